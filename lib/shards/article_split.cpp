#include "shards/article_split.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <span>
#include <utility>

#include "core/error.h"
#include "core/random.h"

namespace bertpretrain {
namespace {

/// Distributes the articles over groups [first_group, first_group + groups), longest first.
void fill_groups(std::span<std::uint32_t> articles, std::uint32_t first_group, std::uint32_t groups,
                 const std::vector<std::uint32_t>& sentence_counts, std::vector<std::uint32_t>& group_of) {
    std::stable_sort(articles.begin(), articles.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return sentence_counts[a] > sentence_counts[b]; });
    using Load = std::pair<std::uint64_t, std::uint32_t>;  // sentences, group
    std::priority_queue<Load, std::vector<Load>, std::greater<>> emptiest;
    for (std::uint32_t g = 0; g < groups; ++g) emptiest.emplace(0, first_group + g);
    for (const std::uint32_t article : articles) {
        const auto [sentences, group] = emptiest.top();
        emptiest.pop();
        group_of[article] = group;
        emptiest.emplace(sentences + sentence_counts[article], group);
    }
}

/// Returns the number of groups of a side whose shards hold `share` of the text: at most one per article.
std::uint32_t group_count(std::int64_t shards, double share, std::int64_t articles, const SplitSettings& settings) {
    if (shards == 0) return 0;
    const double shard_bytes = share * static_cast<double>(settings.text_bytes) / static_cast<double>(shards);
    const auto wanted = static_cast<std::int64_t>(std::ceil(shard_bytes / static_cast<double>(settings.largest_group_bytes)));
    return static_cast<std::uint32_t>(shards * std::clamp<std::int64_t>(wanted, 1, articles / shards));
}

}  // namespace

ArticleSplit split_articles(const std::vector<std::uint32_t>& sentence_counts, const SplitSettings& settings) {
    const auto total = static_cast<std::int64_t>(sentence_counts.size());
    std::int64_t held_out = 0;
    if (settings.held_out_fraction > 0)
        held_out = std::max<std::int64_t>(1, std::llround(settings.held_out_fraction * static_cast<double>(total)));
    const std::int64_t training = total - held_out;
    if (training < 1)
        throw ConfigError(concat("--held-out-fraction ", settings.held_out_fraction, " leaves none of ", total,
                                 " articles for training; use more text or a smaller fraction (0 is allowed)"));
    if (training < settings.training_shards || held_out < settings.held_out_shards)
        throw ConfigError(concat(total, " articles are too few for ", settings.training_shards, " training and ",
                                 settings.held_out_shards, " held-out shards: --held-out-fraction ", settings.held_out_fraction,
                                 " gives ", training, " training and ", held_out,
                                 " held-out articles, and a shard needs at least one", "\n  do: at most --shards ", training,
                                 " --held-out-shards ", held_out, ", or use more text"));
    std::vector<std::uint32_t> order(sentence_counts.size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    RandomSequence(settings.seed, Purpose::held_out_split, 0).shuffle(order);
    const std::span<std::uint32_t> shuffled(order);
    const auto cut = static_cast<std::size_t>(held_out);
    const double held_out_share = static_cast<double>(held_out) / static_cast<double>(total);
    ArticleSplit split;
    split.group_of.resize(order.size());
    split.training_groups = group_count(settings.training_shards, 1 - held_out_share, training, settings);
    split.held_out_groups = group_count(settings.held_out_shards, held_out_share, held_out, settings);
    fill_groups(shuffled.subspan(cut), 0, split.training_groups, sentence_counts, split.group_of);
    fill_groups(shuffled.first(cut), split.training_groups, split.held_out_groups, sentence_counts, split.group_of);
    return split;
}

}  // namespace bertpretrain
