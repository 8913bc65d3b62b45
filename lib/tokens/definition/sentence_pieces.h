#pragma once
// Google's SentencePiece, by its library.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// A trained model: Unigram, BPE, words or characters. Immutable, so thread-safe.
class SentencePieces {
public:
    /// @param model the content of a .model file  @param where begins messages
    /// @throws DataError if the library cannot read it
    SentencePieces(std::string_view model, const std::string& where);
    ~SentencePieces();
    SentencePieces(const SentencePieces&) = delete;
    SentencePieces& operator=(const SentencePieces&) = delete;

    /// Returns all pieces by id.
    std::vector<std::string> tokens() const;
    /// Returns the id of the token for unknown text.
    std::int32_t unknown() const;
    /// Whether text never becomes this piece: a control symbol such as "<s>", or the token for unknown text.
    bool is_special(std::int32_t id) const;
    /// Whether the model's normalizer converts text to lower case.
    bool lowers() const;

    /// Appends the ids of a text, which the model normalizes. @param text valid UTF-8
    void encode(std::string_view text, std::vector<std::int32_t>& ids) const;

private:
    struct State;
    std::unique_ptr<const State> state_;
};

}  // namespace bertpretrain
