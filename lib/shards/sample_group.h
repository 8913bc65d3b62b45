#pragma once
// Documents that are sampled together: they lend each other random next sentences, and their rows are shuffled.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "shards/sample.h"

namespace bertpretrain {

/// All samples of a group of documents. Kept are their tokens and 20 bytes per sample; a row is made when it is asked for.
/// Everything is a pure function of the documents, the rules and the group's number.
class SampleGroup {
public:
    /// @param number of the group among all of the corpus; masks and the rows' order hang on it
    SampleGroup(Documents documents, SampleRules rules, std::uint32_t number, std::size_t threads);

    std::size_t documents() const { return documents_.size(); }
    std::int64_t size() const { return static_cast<std::int64_t>(order_.size()); }
    /// Without padding.
    std::int64_t token_count() const;
    /// Rows [first, first + count), shuffled and masked. Several threads may call it at once.
    ShardRows rows(std::int64_t first, std::int64_t count) const;

private:
    void fetch_ahead(std::uint32_t pair) const;

    Documents documents_;
    SampleRules rules_;
    std::uint32_t number_;
    std::vector<SentencePair> pairs_;   // document by document
    std::vector<std::uint32_t> order_;  // row -> its pair
};

}  // namespace bertpretrain
