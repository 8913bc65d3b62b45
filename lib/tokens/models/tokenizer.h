#pragma once
// What all tokenizers have in common.

#include <cstdint>
#include <string_view>
#include <vector>

#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {

/// Converts text to token ids. Thread-safe.
class Tokenizer {
public:
    virtual ~Tokenizer() = default;

    /// Appends the ids of `utf8_text` to `ids`, without special tokens around them. Bytes that are not valid UTF-8 are dropped.
    virtual void encode(std::string_view utf8_text, std::vector<std::int32_t>& ids) const = 0;
    /// Returns the ids of `utf8_text`.
    std::vector<std::int32_t> encode(std::string_view utf8_text) const {
        std::vector<std::int32_t> ids;
        encode(utf8_text, ids);
        return ids;
    }

    virtual const Vocabulary& vocabulary() const = 0;

    /// Returns whether the white space before a word changes its ids, as in byte-level BPE.
    virtual bool keeps_spaces() const { return false; }

protected:
    Tokenizer() = default;
    Tokenizer(const Tokenizer&) = default;
    Tokenizer(Tokenizer&&) = default;
    Tokenizer& operator=(const Tokenizer&) = default;
    Tokenizer& operator=(Tokenizer&&) = default;
};

}  // namespace bertpretrain
