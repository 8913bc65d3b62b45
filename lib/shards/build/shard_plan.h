#pragma once
// Which articles become which shards.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "shards/build/shard_build.h"
#include "shards/build/text_articles.h"

namespace bertpretrain {

/// The groups of articles, and those of each shard, training shards first.
struct ShardPlan {
    struct Shard {
        std::string file;
        std::uint32_t first_group = 0, groups = 0;
    };
    std::vector<std::uint32_t> group_of;  ///< article index -> group
    std::uint32_t groups = 0;
    std::vector<Shard> shards;

    std::vector<std::string> files() const;
    /// Leaves out the shards that are not wanted. The groups keep their numbers, on which the rows depend.
    void keep(const std::function<bool(const std::string& file)>& is_wanted);
    /// Returns for each group whether a shard has it.
    std::vector<std::uint8_t> wanted_groups() const;
};

/// @throws ConfigError if there are more shards than articles
ShardPlan plan_shards(const ShardBuildSettings& settings, const TextArticles& articles, std::size_t threads);

}  // namespace bertpretrain
