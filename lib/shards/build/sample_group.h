#pragma once
// A group of documents that are sampled together: random next sentences and row shuffling stay within the group.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "shards/build/sample.h"

namespace bertpretrain {

/// All samples of a group of documents, a pure function of the documents, the rules and the group's number. Keeps the tokens,
/// at most 20 bytes per sample, and 8 bytes per piece of text that is packed; rows are made on request.
class SampleGroup {
public:
    /// @param number index of the group in the corpus; determines the masks and the order of rows
    SampleGroup(Documents documents, SampleRules rules, std::uint32_t number, std::size_t threads);

    std::size_t documents() const { return documents_.size(); }
    std::int64_t size() const { return static_cast<std::int64_t>(order_.size()); }
    /// Returns the tokens of all samples, without padding.
    std::int64_t token_count() const;
    /// Returns rows [first, first + count), shuffled and masked. Thread-safe.
    ShardRows rows(std::int64_t first, std::int64_t count) const;

private:
    void build_pairs_of_documents(std::size_t threads);
    void fetch_ahead(std::uint32_t sample) const;
    std::span<std::int32_t> put_sample(std::uint32_t sample, ShardRows& rows, std::int64_t row) const;

    Documents documents_;
    SampleRules rules_;
    std::uint32_t number_;
    std::vector<SentencePair> pairs_;   // in document order; empty where the rules pack
    std::optional<PackedText> packed_;  // where the rules pack; sample i is row i modulo their number
    std::vector<std::uint32_t> order_;  // row -> sample
};

}  // namespace bertpretrain
