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
    std::uint64_t text_bytes = 0;                                ///< of all articles
    std::uint64_t largest_group_bytes = std::uint64_t{1} << 40;  ///< of text, about
};

/// Shards consist of equally many groups on each side: shard s of the training side of groups [s g, (s + 1) g), and behind
/// all of them the held-out side's likewise.
struct ArticleSplit {
    std::vector<std::uint32_t> group_of;  ///< article -> group
    std::uint32_t training_groups = 0, held_out_groups = 0;
};

/// Sets a random share of the articles aside, then fills the groups of both sides evenly: the longest article that is left
/// goes to the group with the fewest sentences. A pure function of its arguments; 16 bytes per article.
/// @param sentence_counts of each article
/// @throws ConfigError naming numbers that work, when there are fewer articles than shards on a side
ArticleSplit split_articles(const std::vector<std::uint32_t>& sentence_counts, const SplitSettings& settings);

}  // namespace bertpretrain
