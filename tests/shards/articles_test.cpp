#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/random.h"
#include "shards/article_split.h"
#include "shards/text_articles.h"
#include "support/catch.h"
#include "support/contains.h"
#include "support/files.h"

using namespace bertpretrain;
using testing::contains;
using namespace bertpretrain::testing;

namespace {

std::vector<std::uint32_t> made_up_counts(std::size_t articles) {
    RandomSequence random(1, Purpose::document_order, 0);
    std::vector<std::uint32_t> counts(articles);
    for (std::uint32_t& count : counts) count = 1 + random.below(50);
    return counts;
}

std::string refusal(std::size_t articles, const SplitSettings& settings) {
    try {
        split_articles(std::vector<std::uint32_t>(articles, 3), settings);
    } catch (const ConfigError& error) { return error.what(); }
    return "accepted";
}

}  // namespace

TEST_CASE("articles are runs of non-blank lines, with any white space around them") {
    const TemporaryFolder folder;
    write_text(folder / "a.txt", "\n \none.\r\n  two. \n\t\r\nthree.\n\n\n");
    write_text(folder / "b.txt", "four.\nfive.");
    write_text(folder / "empty.txt", "");
    for (const std::uint64_t part_bytes : {std::uint64_t{1}, std::uint64_t{8}, std::uint64_t{1000}}) {
        const TextArticles articles({folder / "a.txt", folder / "empty.txt", folder / "b.txt"}, part_bytes);
        CHECK(articles.sentence_counts() == std::vector<std::uint32_t>{2, 1, 2});
        CHECK(articles.parts().size() == (part_bytes == 1000 ? 2 : 3));
        std::string texts;
        std::uint32_t next = 0;
        for (const TextPart& part : articles.parts()) {
            CHECK(part.first_article == std::exchange(next, next + part.articles));
            texts += articles.read(part) + "|";
        }
        CHECK(texts == (part_bytes == 1000 ? "one.\r\n  two. \n\t\r\nthree.\n|four.\nfive.|"
                                           : "one.\r\n  two. \n|three.\n|four.\nfive.|"));
    }
}

TEST_CASE("articles are found with lines of any length, and one above 64 MiB is refused with its position") {
    const TemporaryFolder folder;
    const std::size_t mebibyte = std::size_t{1} << 20;
    write_text(folder / "long.txt", std::string(3 * mebibyte, 'a') + "\n" + std::string(2 * mebibyte, ' ') + "\nb\n");
    CHECK(TextArticles({folder / "long.txt"}).sentence_counts() == std::vector<std::uint32_t>{1, 1});
    write_text(folder / "longer.txt", "first\n\n" + std::string(67 * mebibyte, 'a'));
    const auto reason = [&] {
        try {
            TextArticles({folder / "longer.txt"});
        } catch (const DataError& error) { return std::string(error.what()); }
        return std::string();
    };
    CHECK(contains(reason(), "begins at byte 7"));
    CHECK(contains(reason(), "64 MiB"));
}

TEST_CASE("texts that are missing, blank, or truncated while in use are a DataError") {
    const TemporaryFolder folder;
    write_text(folder / "blank.txt", "\n \n\n");
    CHECK_THROWS_AS(TextArticles({folder / "absent.txt"}), DataError);
    CHECK_THROWS_AS(TextArticles({folder.path()}), DataError);
    CHECK_THROWS_AS(TextArticles({folder / "blank.txt"}), DataError);
    write_text(folder / "a.txt", "one.\n\ntwo two two.\n");
    const TextArticles articles({folder / "a.txt"}, 1);
    write_text(folder / "a.txt", "one.\n");
    CHECK(articles.read(articles.parts()[0]) == "one.\n");
    CHECK_THROWS_AS(articles.read(articles.parts()[1]), DataError);
}

TEST_CASE("each article gets a group, the held-out share is as requested, and groups have equally many sentences") {
    const std::vector<std::uint32_t> counts = made_up_counts(3000);
    // Shards of 90,000 / 16 and 10,000 / 4 bytes in groups of about 2000.
    const ArticleSplit split = split_articles(counts, {16, 4, 0.1, 12345, 100'000, 2000});
    CHECK(split.training_groups == 48);
    CHECK(split.held_out_groups == 8);
    REQUIRE(split.group_of.size() == 3000);
    std::vector<std::int64_t> loads(56);
    std::int64_t held_out = 0;
    for (std::size_t a = 0; a < counts.size(); ++a) {
        REQUIRE(split.group_of[a] < 56);
        loads[split.group_of[a]] += counts[a];
        held_out += split.group_of[a] >= 48 ? 1 : 0;
    }
    CHECK(held_out == 300);
    const auto spread = [&](std::ptrdiff_t from, std::ptrdiff_t to) {
        const auto [low, high] = std::minmax_element(loads.begin() + from, loads.begin() + to);
        return *high - *low;
    };
    CHECK(spread(0, 48) <= 1);
    CHECK(spread(48, 56) <= 1);
}

TEST_CASE("there are never more groups than articles, nor fewer than shards") {
    const ArticleSplit many = split_articles(made_up_counts(10), {2, 1, 0.1, 1, 1'000'000, 1});
    CHECK(many.training_groups == 8);
    CHECK(many.held_out_groups == 1);
    CHECK(split_articles(made_up_counts(10), {2, 1, 0.1, 1, 10, 1'000'000}).training_groups == 2);
    CHECK(split_articles(made_up_counts(10), {2, 0, 0, 1, 10, 1'000'000}).held_out_groups == 0);
}

TEST_CASE("the seed decides which articles are held out, the number of shards does not") {
    const std::vector<std::uint32_t> counts = made_up_counts(500);
    const auto held_out = [&](std::uint64_t seed, std::int64_t shards) {
        std::vector<std::size_t> articles;
        const ArticleSplit split = split_articles(counts, {shards, shards, 0.1, seed});
        for (std::size_t a = 0; a < counts.size(); ++a)
            if (split.group_of[a] >= split.training_groups) articles.push_back(a);
        return articles;
    };
    CHECK(held_out(1, 2) == held_out(1, 7));
    CHECK(held_out(1, 2) != held_out(2, 2));
}

TEST_CASE("too few articles for the shards are refused, and the message gives numbers that work") {
    CHECK(contains(refusal(100, {256, 256, 0.1, 1}), "at most --shards 90 --held-out-shards 10"));
    CHECK(refusal(100, {90, 10, 0.1, 1}) == "accepted");
    CHECK(contains(refusal(100, {90, 11, 0.1, 1}), "--held-out-shards 10"));
    CHECK(contains(refusal(100, {91, 10, 0.1, 1}), "--shards 90"));
    CHECK(refusal(100, {100, 0, 0, 1}) == "accepted");
    CHECK(contains(refusal(1, {1, 1, 0.1, 1}), "leaves none of 1 articles for training"));
    CHECK(contains(refusal(10, {1, 1, 1.0, 1}), "leaves none"));
}
