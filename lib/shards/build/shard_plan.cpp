#include "shards/build/shard_plan.h"

#include <algorithm>

#include "core/strings.h"
#include "shards/build/article_contents.h"
#include "shards/build/article_split.h"

namespace bertpretrain {
namespace {

/// @param shards the number of training shards
std::string shard_name(const std::string& name, std::int64_t shards, ShardKind kind, std::size_t number) {
    std::string digits = std::to_string(number);
    const std::size_t width = std::max<std::size_t>(4, std::to_string(shards).size());
    digits.insert(0, digits.size() < width ? width - digits.size() : 0, '0');
    return name + (kind == ShardKind::training ? "_training_" : "_test_") + digits + ".h5";
}

}  // namespace

std::vector<std::string> ShardPlan::files() const {
    std::vector<std::string> names;
    for (const Shard& shard : shards) names.push_back(shard.file);
    return names;
}

void ShardPlan::keep(const std::function<bool(const std::string& file)>& is_wanted) {
    std::erase_if(shards, [&](const Shard& shard) { return !is_wanted(shard.file); });
}

std::vector<std::uint8_t> ShardPlan::wanted_groups() const {
    std::vector<std::uint8_t> wanted(groups);
    for (const Shard& shard : shards) std::fill_n(wanted.begin() + shard.first_group, shard.groups, std::uint8_t{1});
    return wanted;
}

ShardPlan plan_shards(const ShardBuildSettings& settings, const TextArticles& articles, std::size_t threads) {
    const double fraction = settings.samples.held_out_fraction;
    const std::int64_t training = settings.shards.value_or(default_shards(articles.total_bytes(), articles.size(), fraction));
    const std::int64_t held_out = fraction > 0 ? settings.held_out_shards.value_or(training) : 0;
    std::vector<std::uint64_t> keys;
    if (fraction > 0) keys = content_keys(articles, settings.samples.seed, threads);
    ArticleSplit split = split_articles(articles.sentence_counts(), keys,
                                        {training, held_out, fraction, settings.samples.seed, articles.total_bytes(),
                                         static_cast<std::uint64_t>(settings.samples.group_mib) << 20});
    ShardPlan plan{std::move(split.group_of), split.training_groups + split.held_out_groups, {}};
    const auto add = [&](ShardKind kind, std::int64_t shards, std::uint32_t groups) {
        for (std::int64_t s = 0; s < shards; ++s) {
            const std::uint32_t each = groups / static_cast<std::uint32_t>(shards);
            const std::uint32_t first = plan.shards.empty() ? 0 : plan.shards.back().first_group + plan.shards.back().groups;
            plan.shards.push_back({shard_name(settings.name, training, kind, static_cast<std::size_t>(s)), first, each});
        }
    };
    add(ShardKind::training, training, split.training_groups);
    add(ShardKind::held_out, held_out, split.held_out_groups);
    return plan;
}

}  // namespace bertpretrain
