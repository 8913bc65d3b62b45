#include "shards/build/article_split.h"

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

/// The articles of both sides, each in the order in which they are distributed over the groups.
struct Sides {
    std::vector<std::uint32_t> training, held_out;
};

/// Without a held-out side, the order is random.
std::vector<std::uint32_t> shuffled_articles(std::size_t count, std::uint64_t seed) {
    std::vector<std::uint32_t> order(count);
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    RandomSequence(seed, Purpose::held_out_split, 0).shuffle(order);
    return order;
}

/// Takes runs of articles with equal keys, smallest key first, as long as they fit into the wanted number. If none fits, takes
/// the smallest run.
Sides choose_sides(const std::vector<std::uint64_t>& keys, std::size_t wanted) {
    std::vector<std::uint32_t> order(keys.size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::uint32_t a, std::uint32_t b) { return std::pair(keys[a], a) < std::pair(keys[b], b); });
    using Run = std::span<const std::uint32_t>;
    const auto for_each_run = [&](const auto& body) {
        for (auto begin = order.begin(); begin != order.end();) {
            const auto end =
                std::find_if(begin, order.end(), [&](std::uint32_t article) { return keys[article] != keys[*begin]; });
            body(Run(begin, end));
            begin = end;
        }
    };
    std::size_t smallest = keys.size();
    for_each_run([&](Run run) { smallest = std::min(smallest, run.size()); });
    wanted = std::max(wanted, smallest);
    Sides sides;
    for_each_run([&](Run run) {
        std::vector<std::uint32_t>& side = sides.held_out.size() + run.size() <= wanted ? sides.held_out : sides.training;
        side.insert(side.end(), run.begin(), run.end());
    });
    return sides;
}

constexpr std::string_view separate_documents =
    "; if an article here is several documents of plain text, pass what separates them: --documents empty-lines, files or lines";

void require_articles(const Sides& sides, const SplitSettings& settings) {
    const auto training = static_cast<std::int64_t>(sides.training.size());
    const auto held_out = static_cast<std::int64_t>(sides.held_out.size());
    const std::int64_t total = training + held_out;
    if (training < 1)
        throw TooFewArticlesError(concat("--held-out-fraction ", settings.held_out_fraction, " leaves none of ", total,
                                         " articles for training, because equal articles stay together\n  do: use more text or a "
                                         "smaller fraction (0 is allowed)",
                                         separate_documents));
    if (training < settings.training_shards || held_out < settings.held_out_shards)
        throw TooFewArticlesError(concat(
            total, " articles are too few for ", settings.training_shards, " training and ", settings.held_out_shards,
            " held-out shards: --held-out-fraction ", settings.held_out_fraction, " gives ", training, " training and ", held_out,
            " held-out articles (equal articles stay together), and a shard needs at least one", "\n  do: at most --shards ",
            training, " --held-out-shards ", held_out, ", or use more text", separate_documents));
}

}  // namespace

std::int64_t default_shards(std::uint64_t text_bytes, std::size_t articles, double held_out_fraction) {
    constexpr std::uint64_t shard_bytes = std::uint64_t{16} << 20;
    constexpr double fewest_articles = 8;
    constexpr std::int64_t most = 256;
    const double smaller_side =
        static_cast<double>(articles) * (held_out_fraction > 0 ? std::min(held_out_fraction, 1 - held_out_fraction) : 1);
    const std::uint64_t by_size = (text_bytes + shard_bytes - 1) / shard_bytes;
    const auto by_articles = static_cast<std::uint64_t>(smaller_side / fewest_articles);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(by_size, by_articles)), 1, most);
}

ArticleSplit split_articles(const std::vector<std::uint32_t>& sentence_counts, const std::vector<std::uint64_t>& keys,
                            const SplitSettings& settings) {
    const auto total = static_cast<double>(sentence_counts.size());
    Sides sides;
    if (settings.held_out_fraction > 0)
        sides = choose_sides(keys, static_cast<std::size_t>(std::llround(settings.held_out_fraction * total)));
    else sides.training = shuffled_articles(sentence_counts.size(), settings.seed);
    require_articles(sides, settings);
    const double held_out_share = static_cast<double>(sides.held_out.size()) / total;
    const auto groups_of = [&](const std::vector<std::uint32_t>& side, std::int64_t shards, double share) {
        return group_count(shards, share, static_cast<std::int64_t>(side.size()), settings);
    };
    ArticleSplit split;
    split.group_of.resize(sentence_counts.size());
    split.training_groups = groups_of(sides.training, settings.training_shards, 1 - held_out_share);
    split.held_out_groups = groups_of(sides.held_out, settings.held_out_shards, held_out_share);
    fill_groups(sides.training, 0, split.training_groups, sentence_counts, split.group_of);
    fill_groups(sides.held_out, split.training_groups, split.held_out_groups, sentence_counts, split.group_of);
    return split;
}

}  // namespace bertpretrain
