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

std::vector<std::vector<std::size_t>> fill_shards(std::span<const std::size_t> shuffled, std::int64_t shard_count,
                                                  const std::vector<std::int64_t>& sentence_counts) {
    std::vector<std::size_t> articles(shuffled.begin(), shuffled.end());
    std::stable_sort(articles.begin(), articles.end(),
                     [&](std::size_t a, std::size_t b) { return sentence_counts[a] > sentence_counts[b]; });
    using Load = std::pair<std::int64_t, std::size_t>;  // sentences, shard
    std::priority_queue<Load, std::vector<Load>, std::greater<>> emptiest;
    std::vector<std::vector<std::size_t>> shards(static_cast<std::size_t>(shard_count));
    for (std::size_t s = 0; s < shards.size(); ++s) emptiest.emplace(0, s);
    for (const std::size_t article : articles) {
        const auto [sentences, shard] = emptiest.top();
        emptiest.pop();
        shards[shard].push_back(article);
        emptiest.emplace(sentences + sentence_counts[article], shard);
    }
    for (auto& shard : shards) std::sort(shard.begin(), shard.end());  // files are then read forwards
    return shards;
}

}  // namespace

ArticleSplit split_articles(const std::vector<std::int64_t>& sentence_counts, const SplitSettings& settings) {
    const auto total = static_cast<std::int64_t>(sentence_counts.size());
    std::int64_t held_out = 0;
    if (settings.held_out_fraction > 0)
        held_out = std::max<std::int64_t>(1, std::llround(settings.held_out_fraction * static_cast<double>(total)));
    const std::int64_t training = total - held_out;
    if (training < 1)
        throw ConfigError(concat("--held-out-fraction ", settings.held_out_fraction, " leaves none of ", total,
                                 " articles for training; give more text or a smaller fraction (0 works)"));
    if (training < settings.training_shards || held_out < settings.held_out_shards)
        throw ConfigError(concat(total, " articles are too few for ", settings.training_shards, " training and ",
                                 settings.held_out_shards, " held-out shards: --held-out-fraction ", settings.held_out_fraction,
                                 " gives ", training, " training and ", held_out,
                                 " held-out articles, and a shard needs at least one", "\n  do: at most --shards ", training,
                                 " --held-out-shards ", held_out, ", or give more text"));
    std::vector<std::size_t> order(sentence_counts.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    RandomSequence(settings.seed, Purpose::held_out_split, 0).shuffle(order);
    const std::span<const std::size_t> shuffled(order);
    const auto cut = static_cast<std::size_t>(held_out);
    return {fill_shards(shuffled.subspan(cut), settings.training_shards, sentence_counts),
            fill_shards(shuffled.first(cut), settings.held_out_shards, sentence_counts)};
}

}  // namespace bertpretrain
