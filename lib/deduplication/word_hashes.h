#pragma once
// What two documents are compared by: hashes of their normalized words, and of runs of consecutive words (shingles).

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/words.h"

namespace bertpretrain {

/// Splits text into words and hashes each. Words are those of BERT's tokenizer in lower case, with accents and without
/// punctuation; each Chinese character is a word. In other scripts without spaces (Thai, kana), a word is what stands between
/// spaces or marks. Not thread-safe.
class WordHashes {
public:
    WordHashes() : reader_(Casing::uncased_with_accents, TokenRules::huggingface) {}

    /// Appends the hash of each word of `text` to `hashes`.
    void append(std::string_view text, std::vector<std::uint64_t>& hashes);

private:
    bool append_ascii(std::string_view text, std::vector<std::uint64_t>& hashes);

    WordReader reader_;
    std::string lower_;  ///< of append_ascii()
};

/// A hash of all words in order. Different texts have the same one by chance only: for 10^9 documents, with a probability of
/// 2e-21. It is no protection against texts that were made to collide.
struct ContentHash {
    std::uint64_t high = 0, low = 0;
    auto operator<=>(const ContentHash&) const = default;
};
ContentHash content_hash(std::span<const std::uint64_t> words);

/// Replaces `shingles` with the hashes of all runs of `size` consecutive words, repeated ones included. Fewer words than `size`
/// are one shingle; no words are none.
void hash_shingles(std::span<const std::uint64_t> words, std::size_t size, std::vector<std::uint32_t>& shingles);

/// Returns the shingles sorted and without repetitions.
std::vector<std::uint32_t> shingle_set(std::span<const std::uint64_t> words, std::size_t size);

/// Returns |a and b| / |a or b| of two sorted sets; 0 when both are empty.
double jaccard(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);

}  // namespace bertpretrain
