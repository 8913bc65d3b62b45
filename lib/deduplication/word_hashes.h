#pragma once
// What two documents are compared by: hashes of their normalized words, and of runs of consecutive words (shingles).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "deduplication/ascii_words.h"
#include "deduplication/word_hash.h"
#include "tokens/models/words.h"

namespace bertpretrain {

/// Splits text into words and hashes each. Words are those of BERT's tokenizer in lower case, with accents and without
/// punctuation; each Chinese character is a word. In other scripts without spaces (Thai, kana), a word is what stands between
/// spaces or marks. Not thread-safe.
class WordHashes {
public:
    WordHashes() : reader_(Casing::uncased_with_accents, TokenRules::huggingface) {}

    /// Calls visit(hash) for each word of `text`.
    template <class Visit>
    void for_each(std::string_view text, const Visit& visit) {
        ascii_.take(text);
        std::size_t done = 0;
        for (std::size_t other = 0; (other = ascii_.next_other(done)) < text.size();) {
            // No word crosses a space, so the reader needs to see only what stands between two.
            const std::size_t begin = text.rfind(' ', other) + 1, end = std::min(text.find(' ', other), text.size());
            ascii_.for_each(done, begin, visit);
            collect_others(text.substr(begin, end - begin));
            for (const std::uint64_t hash : others_) visit(hash);
            done = end;
        }
        ascii_.for_each(done, text.size(), visit);
    }
    /// Appends the hash of each word of `text` to `hashes`.
    void append(std::string_view text, std::vector<std::uint64_t>& hashes) {
        for_each(text, [&](std::uint64_t hash) { hashes.push_back(hash); });
    }

private:
    void collect_others(std::string_view text);

    WordReader reader_;
    AsciiWords ascii_;
    std::vector<std::uint64_t> others_;  ///< of collect_others()
};

/// Returns the hash of all words in order.
ContentHash content_hash(std::span<const std::uint64_t> words);

/// Replaces `shingles` with the hashes of all runs of `size` consecutive words, repeated ones included. Fewer words than `size`
/// are one shingle; no words are none.
void hash_shingles(std::span<const std::uint64_t> words, std::size_t size, std::vector<std::uint32_t>& shingles);

/// Returns the shingles sorted and without repetitions.
std::vector<std::uint32_t> shingle_set(std::span<const std::uint64_t> words, std::size_t size);

/// Returns |a and b| / |a or b| of two sorted sets; 0 when both are empty.
double jaccard(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b);

}  // namespace bertpretrain
