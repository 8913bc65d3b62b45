#pragma once
// Splits paragraphs into sentences by rules for English.

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace bertpretrain {

/// The words that a splitter knows, in lower case and without their last period.
struct SentenceParameters {
    std::unordered_set<std::string> abbreviations;      ///< "etc", "inc": a period after them may end a sentence
    std::unordered_set<std::string> titles;             ///< "dr", "vs": always followed by a word, so they never end a sentence
    std::unordered_set<std::string> numbered;           ///< "no", "fig": abbreviations only before a number
    std::unordered_set<std::string> sentence_starters;  ///< "the", "however": capitalised, they begin a sentence

    /// Our own list for English.
    static const SentenceParameters& english();
};

/// Splits where . ? or ! ends a sentence. Uses Punkt's criteria (Kiss and Strunk 2006): whether the word before the period is an
/// abbreviation, an initial, a number or an ellipsis, and how the next word begins. A lower-case word never begins a sentence.
/// Closing quotation marks and brackets stay with the sentence that they close. The full stops of scripts that have their own
/// always end one (sentence_stops.h).
class SentenceSplitter {
public:
    explicit SentenceSplitter(SentenceParameters parameters = SentenceParameters::english())
        : parameters_(std::move(parameters)) {}

    /// Returns the sentences in order, without white space at their ends, none of them empty. Together they
    /// contain the paragraph except that white space. Takes linear time. Thread-safe.
    std::vector<std::string> split(std::string_view paragraph) const;

private:
    /// Appends the sentences of a part of a paragraph that has no sure stop but at its end.
    void split_part(std::string_view text, std::vector<std::string>& sentences) const;

    SentenceParameters parameters_;
};

}  // namespace bertpretrain
