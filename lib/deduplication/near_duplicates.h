#pragma once
// Compares the documents that share a band, and unites those that are similar enough.

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "deduplication/clusters.h"
#include "deduplication/document_store.h"
#include "deduplication/fingerprints.h"
#include "deduplication/record_sorter.h"

namespace bertpretrain {

/// The shingle sets of the documents that were read last. Not thread-safe.
class ShingleCache {
public:
    /// @param memory in bytes, besides the set that is read last
    ShingleCache(const DocumentStore& documents, std::size_t shingle_words, std::size_t memory)
        : documents_(documents), shingle_words_(shingle_words), memory_(memory) {}

    using Set = std::shared_ptr<const std::vector<std::uint32_t>>;
    Set of(std::uint32_t document);

private:
    const DocumentStore& documents_;
    std::size_t shingle_words_, memory_, used_ = 0;
    WordHashes hashes_;
    std::list<std::uint32_t> oldest_first_;
    std::unordered_map<std::uint32_t, Set> sets_;
};

struct NearSettings {
    double threshold = 0.8;  ///< the least Jaccard value of near-duplicates
    std::size_t shingle_words = 5;
    std::size_t memory = 0;  ///< of all caches, in bytes
    std::size_t threads = 1;
};

/// A document is compared with this many documents of the same band: half of them the first ones, half the ones right before it.
/// The limit keeps the time linear if very many documents share a band without being similar.
inline constexpr std::size_t most_compared = 64;

/// Unites documents that share a band, and whose sets of shingles have at least the Jaccard value `threshold`. That value is
/// computed from the documents' own shingles, not from their signatures: the error of a signature of 176 minima is 0.03, so that
/// many pairs near the threshold would be judged wrongly. The clusters do not depend on the number of threads or the memory.
/// @param is_copy by document: whether it equals an earlier one, which stands for it
void unite_near_duplicates(const RecordSorter<BandRecord>& bands, const DocumentStore& documents,
                           std::span<const unsigned char> is_copy, const NearSettings& settings, Clusters& clusters);

}  // namespace bertpretrain
