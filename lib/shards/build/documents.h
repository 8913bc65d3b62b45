#pragma once
// Tokenized documents, contiguous in memory: 4 bytes per token plus 4 per sentence.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bertpretrain {

/// Each document has at least one sentence, each sentence at least one token; fewer than 2^32 tokens in total. Consecutive
/// sentences of a document are contiguous tokens.
class Documents {
public:
    void reserve(std::size_t tokens, std::size_t sentences, std::size_t documents) {
        tokens_.reserve(tokens);
        sentence_begins_.reserve(sentences + 1);
        first_sentences_.reserve(documents + 1);
        numbers_.reserve(documents);
    }
    /// @param number the document's index in the whole corpus
    void begin_document(std::uint32_t number) {
        numbers_.push_back(number);
        first_sentences_.push_back(first_sentences_.back());
    }
    void add_sentence(std::span<const std::int32_t> tokens) {
        tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
        sentence_begins_.push_back(static_cast<std::uint32_t>(tokens_.size()));
        ++first_sentences_.back();
    }

    std::size_t size() const { return numbers_.size(); }
    std::uint32_t number(std::size_t document) const { return numbers_[document]; }
    /// Sentences of a document are numbered [first_sentence(d), first_sentence(d + 1)).
    std::uint32_t first_sentence(std::size_t document) const { return first_sentences_[document]; }
    /// Tokens of a sentence are numbered [sentence_begin(s), sentence_begin(s + 1)).
    std::uint32_t sentence_begin(std::size_t sentence) const { return sentence_begins_[sentence]; }
    std::size_t token_count() const { return tokens_.size(); }
    std::span<const std::int32_t> tokens(std::size_t begin, std::size_t size) const {
        return std::span(tokens_).subspan(begin, size);
    }

private:
    std::vector<std::int32_t> tokens_;
    std::vector<std::uint32_t> sentence_begins_{0}, first_sentences_{0}, numbers_;
};

}  // namespace bertpretrain
