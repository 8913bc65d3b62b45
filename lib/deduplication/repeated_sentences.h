#pragma once
// Finds the sentences that a corpus repeats too often.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "deduplication/fingerprints.h"
#include "deduplication/record_sorter.h"

namespace bertpretrain {

/// The place of a sentence to remove.
struct SentencePlace {
    std::uint32_t document = 0, line = 0;
    std::uint64_t key() const { return document; }
    auto operator<=>(const SentencePlace&) const = default;
};

struct RepeatedSentence {
    std::uint64_t times = 0;
    SentencePlace first;  ///< the place that keeps it
};

struct RepeatedSentences {
    std::uint64_t distinct = 0;
    std::vector<RepeatedSentence> examples;  ///< the most frequent ones first
};

/// Adds to `removed` all places but the first of each sentence that occurs more than `most` times in the documents that are kept.
/// Calls finish() of `removed`. @param most at least 1  @param is_kept thread-safe
RepeatedSentences find_repeated_sentences(const RecordSorter<SentenceRecord>& sentences, std::uint64_t most, std::size_t examples,
                                          std::size_t threads, const std::function<bool(std::uint32_t document)>& is_kept,
                                          RecordSorter<SentencePlace>& removed);

}  // namespace bertpretrain
