#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/random.h"
#include "shards/article_split.h"
#include "shards/text_articles.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

std::vector<std::int64_t> made_up_counts(std::size_t articles) {
    RandomSequence random(1, Purpose::document_order, 0);
    std::vector<std::int64_t> counts(articles);
    for (std::int64_t& count : counts) count = 1 + random.below(50);
    return counts;
}

std::string refusal(std::size_t articles, const SplitSettings& settings) {
    try {
        split_articles(std::vector<std::int64_t>(articles, 3), settings);
    } catch (const ConfigError& error) { return error.what(); }
    return "accepted";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("articles are runs of lines that are not blank, whatever the white space around them") {
    const TemporaryFolder folder;
    write_text(folder / "a.txt", "\n \none.\r\n  two. \n\t\r\nthree.\n\n\n");
    write_text(folder / "b.txt", "four.\nfive.");
    write_text(folder / "empty.txt", "");
    const TextArticles articles({folder / "a.txt", folder / "empty.txt", folder / "b.txt"});
    REQUIRE(articles.size() == 3);
    CHECK(articles.sentences(0) == std::vector<std::string>{"one.", "two."});
    CHECK(articles.sentences(1) == std::vector<std::string>{"three."});
    CHECK(articles.sentences(2) == std::vector<std::string>{"four.", "five."});
    CHECK(articles.sentence_count(0) == 2);
    CHECK(articles.sentence_count(1) == 1);
}

TEST_CASE("texts that are missing, blank, or cut short while in use are a DataError") {
    const TemporaryFolder folder;
    write_text(folder / "blank.txt", "\n \n\n");
    CHECK_THROWS_AS(TextArticles({folder / "absent.txt"}), DataError);
    CHECK_THROWS_AS(TextArticles({folder.path()}), DataError);
    CHECK_THROWS_AS(TextArticles({folder / "blank.txt"}), DataError);
    write_text(folder / "a.txt", "one.\n\ntwo two two.\n");
    const TextArticles articles({folder / "a.txt"});
    write_text(folder / "a.txt", "one.\n");
    CHECK(articles.sentences(0).size() == 1);
    CHECK_THROWS_AS(articles.sentences(1), DataError);
}

TEST_CASE("each article lands in one shard, the held-out share is as asked, and shards hold equally many sentences") {
    const std::vector<std::int64_t> counts = made_up_counts(3000);
    const ArticleSplit split = split_articles(counts, {16, 4, 0.1, 12345});
    REQUIRE(split.training.size() == 16);
    REQUIRE(split.held_out.size() == 4);
    std::vector<std::size_t> all;
    std::size_t held_out = 0;
    const auto load = [&](const std::vector<std::size_t>& shard) {
        return std::accumulate(shard.begin(), shard.end(), std::int64_t{0},
                               [&](std::int64_t sum, std::size_t a) { return sum + counts[a]; });
    };
    for (const auto* side : {&split.training, &split.held_out}) {
        std::vector<std::int64_t> loads;
        for (const auto& shard : *side) {
            CHECK(std::is_sorted(shard.begin(), shard.end()));
            all.insert(all.end(), shard.begin(), shard.end());
            loads.push_back(load(shard));
        }
        CHECK(*std::max_element(loads.begin(), loads.end()) - *std::min_element(loads.begin(), loads.end()) <= 1);
    }
    for (const auto& shard : split.held_out) held_out += shard.size();
    CHECK(held_out == 300);
    std::sort(all.begin(), all.end());
    std::vector<std::size_t> expected(counts.size());
    std::iota(expected.begin(), expected.end(), std::size_t{0});
    CHECK(all == expected);
}

TEST_CASE("the seed decides which articles are held out, the number of shards does not") {
    const std::vector<std::int64_t> counts = made_up_counts(500);
    const auto held_out = [&](std::uint64_t seed, std::int64_t shards) {
        std::vector<std::size_t> articles;
        for (const auto& shard : split_articles(counts, {shards, shards, 0.1, seed}).held_out)
            articles.insert(articles.end(), shard.begin(), shard.end());
        std::sort(articles.begin(), articles.end());
        return articles;
    };
    CHECK(held_out(1, 2) == held_out(1, 7));
    CHECK(held_out(1, 2) != held_out(2, 2));
}

TEST_CASE("too few articles for the shards are refused with numbers that work") {
    CHECK(contains(refusal(100, {256, 256, 0.1, 1}), "at most --shards 90 --held-out-shards 10"));
    CHECK(refusal(100, {90, 10, 0.1, 1}) == "accepted");
    CHECK(contains(refusal(100, {90, 11, 0.1, 1}), "--held-out-shards 10"));
    CHECK(contains(refusal(100, {91, 10, 0.1, 1}), "--shards 90"));
    CHECK(refusal(100, {100, 0, 0, 1}) == "accepted");
    CHECK(contains(refusal(1, {1, 1, 0.1, 1}), "leaves none of 1 articles for training"));
    CHECK(contains(refusal(10, {1, 1, 1.0, 1}), "leaves none"));
}
