#pragma once
// Paragraphs -> sentences.

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace bertpretrain {

/// What a splitter knows about a language; all words in lower case, without their last period.
struct SentenceParameters {
    std::unordered_set<std::string> abbreviations;      ///< "etc", "inc": a period behind them may end a sentence
    std::unordered_set<std::string> titles;             ///< "dr", "vs": a word always follows, so they never end one
    std::unordered_set<std::string> numbered;           ///< "no", "fig": shortened only where a number follows
    std::unordered_set<std::string> sentence_starters;  ///< "the", "however": capitalised, they begin a sentence

    /// A list of our own making, for English.
    static const SentenceParameters& english();
};

/// Splits where . ? or ! ends a sentence. The questions are Punkt's (Kiss and Strunk 2006): is the word before the period an
/// abbreviation, an initial, a number, an ellipsis; how does the next word begin. A word in lower case never begins a sentence.
/// Closing quotation marks and brackets stay with the sentence that they close. Full stops of Chinese and Japanese always end
/// one.
class SentenceSplitter {
public:
    explicit SentenceSplitter(SentenceParameters parameters = SentenceParameters::english())
        : parameters_(std::move(parameters)) {}

    /// The sentences of a paragraph in order, without blanks at their ends, none empty; joined by blanks they are the paragraph.
    /// Linear in its size.
    std::vector<std::string> split(std::string_view paragraph) const;

private:
    SentenceParameters parameters_;
};

}  // namespace bertpretrain
