#pragma once
// Assigns articles to shards.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/error.h"

namespace bertpretrain {

/// A text has fewer articles than its shards need, which may be no mistake: a daily export of a quiet day.
struct TooFewArticlesError : ConfigError {
    using ConfigError::ConfigError;
};

struct SplitSettings {
    std::int64_t training_shards = 256;
    std::int64_t held_out_shards = 256;                          ///< 0 if and only if held_out_fraction is 0
    double held_out_fraction = 0.1;                              ///< share of the articles
    std::uint64_t seed = 12345;                                  ///< orders the articles if none is held out
    std::uint64_t text_bytes = 0;                                ///< total text size of all articles
    std::uint64_t largest_group_bytes = std::uint64_t{1} << 40;  ///< approximate limit for a group's text
};

/// Returns the number of training shards for a text: one per 16 MiB, but so few that a held-out shard has at least 8 articles,
/// and 1 to 256. 256 shards hold more than 4 GiB.
std::int64_t default_shards(std::uint64_t text_bytes, std::size_t articles, double held_out_fraction);

/// All shards of a side (training or held-out) have the same number of groups, g. Training shard s has groups [s g, (s + 1) g).
/// The groups of the held-out shards follow in the same way, after all training groups.
struct ArticleSplit {
    std::vector<std::uint32_t> group_of;  ///< article index -> group
    std::uint32_t training_groups = 0, held_out_groups = 0;
};

/// Holds out the articles with the smallest keys, then balances the groups of each side: the longest remaining article goes to
/// the group with the fewest sentences. Articles with equal keys are on the same side; if they are too many for the held-out
/// share, they are trained on. A pure function of its arguments. Uses 16 bytes per article besides the arguments.
/// @param sentence_counts number of sentences of each article
/// @param keys equal for articles with equal content (content_keys()); empty if held_out_fraction is 0
/// @throws TooFewArticlesError if a side has fewer articles than shards; the message gives shard counts that work
ArticleSplit split_articles(const std::vector<std::uint32_t>& sentence_counts, const std::vector<std::uint64_t>& keys,
                            const SplitSettings& settings);

}  // namespace bertpretrain
