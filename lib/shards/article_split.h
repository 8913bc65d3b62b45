#pragma once
// Which article goes into which shard.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bertpretrain {

struct SplitSettings {
    std::int64_t training_shards = 256;
    std::int64_t held_out_shards = 256;  ///< 0 exactly when held_out_fraction is 0
    double held_out_fraction = 0.1;      ///< of the articles
    std::uint64_t seed = 12345;
};

/// Article numbers of each shard, ascending.
struct ArticleSplit {
    std::vector<std::vector<std::size_t>> training, held_out;
};

/// Sets a random share of the articles aside, then fills the shards of both sides evenly: the longest article that is left
/// goes to the shard with the fewest sentences. A pure function of its arguments; each article lands in exactly one shard.
/// @param sentence_counts of each article
/// @throws ConfigError naming numbers that work, when there are fewer articles than shards on a side
ArticleSplit split_articles(const std::vector<std::int64_t>& sentence_counts, const SplitSettings& settings);

}  // namespace bertpretrain
