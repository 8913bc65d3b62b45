#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <sys/resource.h>

#include "core/error.h"
#include "core/random.h"
#include "shards/build/article_contents.h"
#include "shards/build/article_split.h"
#include "shards/build/text_articles.h"
#include "support/catch.h"
#include "support/contains.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace std::string_literals;
using testing::contains;
using namespace bertpretrain::testing;

namespace {

std::vector<std::uint32_t> made_up_counts(std::size_t articles) {
    RandomSequence random(1, Purpose::document_order, 0);
    std::vector<std::uint32_t> counts(articles);
    for (std::uint32_t& count : counts) count = 1 + random.below(50);
    return counts;
}

/// Keys of articles that all differ, as content_keys() would give them.
std::vector<std::uint64_t> made_up_keys(std::size_t articles, std::uint64_t seed = 1) {
    RandomSequence random(seed, Purpose::held_out_split, 7);
    std::vector<std::uint64_t> keys(articles);
    for (std::uint64_t& key : keys) key = std::uint64_t{random.next()} << 32 | random.next();
    return keys;
}

std::vector<std::size_t> held_out_articles(const ArticleSplit& split) {
    std::vector<std::size_t> articles;
    for (std::size_t a = 0; a < split.group_of.size(); ++a)
        if (split.group_of[a] >= split.training_groups) articles.push_back(a);
    return articles;
}

std::string refusal(std::size_t articles, const SplitSettings& settings, bool are_equal = false) {
    try {
        split_articles(std::vector<std::uint32_t>(articles, 3),
                       are_equal ? std::vector<std::uint64_t>(articles, 3) : made_up_keys(articles), settings);
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

TEST_CASE("articles are the same for LF, CR LF and CR, and for any white space in empty lines, wherever a file is divided") {
    const TemporaryFolder folder;
    const std::size_t at_once = std::size_t{1} << 20;
    for (const std::string& end : {"\n"s, "\r\n"s, "\r"s})
        for (const std::string& blank : {""s, "\xE3\x80\x80"s, " \xC2\xA0\x1C"s})
            for (std::size_t before = at_once - 8; before < at_once; ++before) {
                const std::string first(before, 'a');
                write_text(folder / "a.txt", first + end + blank + end + "\xE3\x80\x80two" + end + "three " + end + blank + end);
                const TextArticles articles({folder / "a.txt"}, 1);
                REQUIRE(articles.sentence_counts() == std::vector<std::uint32_t>{1, 2});
                std::vector<std::string> sentences;
                for (const TextPart& part : articles.parts())
                    for_each_sentence(articles.read(part), [&](std::string_view sentence) { sentences.emplace_back(sentence); });
                CHECK(sentences == std::vector<std::string>{first, "two", "three"});
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
    const ArticleSplit split = split_articles(counts, made_up_keys(3000), {16, 4, 0.1, 12345, 100'000, 2000});
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
    const ArticleSplit many = split_articles(made_up_counts(10), made_up_keys(10), {2, 1, 0.1, 1, 1'000'000, 1});
    CHECK(many.training_groups == 8);
    CHECK(many.held_out_groups == 1);
    CHECK(split_articles(made_up_counts(10), made_up_keys(10), {2, 1, 0.1, 1, 10, 1'000'000}).training_groups == 2);
    CHECK(split_articles(made_up_counts(10), {}, {2, 0, 0, 1, 10, 1'000'000}).held_out_groups == 0);
}

TEST_CASE("an article's content and the seed decide whether it is held out, its place and the shards do not") {
    const TemporaryFolder folder;
    std::vector<std::string> texts;
    for (int a = 0; a < 500; ++a) texts.push_back(concat("Article ", a, ".\nIt ends.\n\n"));
    const auto held_out = [&](std::uint64_t seed, std::int64_t shards) {
        std::string all;
        for (const std::string& text : texts) all += text;
        write_text(folder / "a.txt", all);
        const TextArticles articles({folder / "a.txt"}, 1000);
        const std::vector<std::uint64_t> keys = content_keys(articles, seed, 3);
        CHECK(keys == content_keys(TextArticles({folder / "a.txt"}), seed, 1));
        std::set<std::string> found;
        for (const std::size_t a :
             held_out_articles(split_articles(articles.sentence_counts(), keys, {shards, shards, 0.1, seed})))
            found.insert(texts[a]);
        return found;
    };
    const std::set<std::string> first = held_out(1, 2);
    CHECK(first.size() == 50);
    CHECK(held_out(1, 7) == first);
    CHECK(held_out(2, 2) != first);
    std::reverse(texts.begin(), texts.end());
    CHECK(held_out(1, 2) == first);
    texts.resize(450);  // some of the held-out ones are missing, so others are held out besides
    const std::set<std::string> fewer = held_out(1, 2);
    CHECK(std::count_if(fewer.begin(), fewer.end(), [&](const std::string& text) { return first.contains(text); }) > 35);
}

TEST_CASE("articles with equal words have equal keys, and those that differ in a word do not") {
    const TemporaryFolder folder;
    write_text(folder / "a.txt",
               "The cat sat.\nIt slept.\n\nthe  CAT, sat. It\nslept\n\nThe cat sat.\n\nIt slept. The cat sat.\n");
    const auto keys = content_keys(TextArticles({folder / "a.txt"}), 1, 2);
    REQUIRE(keys.size() == 4);
    CHECK(keys[0] == keys[1]);
    CHECK(std::set<std::uint64_t>(keys.begin(), keys.end()).size() == 3);
}

TEST_CASE("equal articles are never on both sides, and the held-out share stays close to the one asked for") {
    const std::vector<std::uint32_t> counts = made_up_counts(3000);
    RandomSequence random(5, Purpose::document_order, 0);
    for (const std::uint32_t copies : {2U, 7U, 40U}) {
        std::vector<std::uint64_t> keys = made_up_keys(3000);
        for (std::size_t a = 1000; a < 3000; ++a) keys[a] = keys[random.below(3000 / copies)];
        const ArticleSplit split = split_articles(counts, keys, {4, 2, 0.1, 1});
        std::map<std::uint64_t, std::set<bool>> sides;
        for (std::size_t a = 0; a < keys.size(); ++a) sides[keys[a]].insert(split.group_of[a] < split.training_groups);
        for (const auto& [key, of_key] : sides) REQUIRE(of_key.size() == 1);
        CHECK(held_out_articles(split).size() > 280);
        CHECK(held_out_articles(split).size() <= 300);
    }
}

TEST_CASE("an article that occurs too often for the held-out share is trained on, unless there is no other") {
    std::vector<std::uint64_t> keys{0, 0, 0, 0, 0, 0, 0, 0, 5, 6, 7, 8};
    CHECK(held_out_articles(split_articles(made_up_counts(12), keys, {1, 1, 0.25, 1})) == std::vector<std::size_t>{8, 9, 10});
    keys = {4, 4, 4, 4, 9, 9, 9};
    CHECK(held_out_articles(split_articles(made_up_counts(7), keys, {1, 1, 0.1, 1})) == std::vector<std::size_t>{4, 5, 6});
    CHECK(contains(refusal(7, {1, 1, 0.1, 1}, true), "because equal articles stay together"));
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

TEST_CASE("too few articles may be several in a file, so the message names the option that separates them") {
    for (const std::string& message : {refusal(1, {1, 1, 0.1, 1}), refusal(1, {2, 0, 0, 1}), refusal(10, {20, 1, 0.1, 1})}) {
        CAPTURE(message);
        CHECK(contains(message, "--documents"));
    }
}

TEST_CASE("the default number of shards follows the text's size and articles") {
    constexpr std::uint64_t mib = std::uint64_t{1} << 20;
    CHECK(default_shards(12 * mib, 5'000, 0.1) == 1);
    CHECK(default_shards(16 * mib + 1, 5'000, 0.1) == 2);
    CHECK(default_shards(1024 * mib, 500'000, 0.1) == 64);
    CHECK(default_shards(20'000 * mib, 6'000'000, 0.1) == 256);
    CHECK(default_shards(1024 * mib, 240, 0.1) == 3);  // 24 held-out articles
    CHECK(default_shards(1024 * mib, 240, 0) == 30);
    CHECK(default_shards(1, 1, 0.1) == 1);
}

TEST_CASE("there may be more files of text than a process may open, and a file that is replaced is refused") {
    const TemporaryFolder folder;
    std::vector<std::filesystem::path> files;
    for (int i = 0; i < 200; ++i) write_text(files.emplace_back(folder / std::to_string(i)), std::to_string(i) + ".\n");
    rlimit before{};
    REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
    const rlimit few{100, before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
    std::string failure, last;
    try {
        const TextArticles articles(files);
        last = articles.read(articles.parts().back());
    } catch (const DataError& error) { failure = error.what(); }
    ::setrlimit(RLIMIT_NOFILE, &before);
    CHECK(failure.empty());
    CHECK(last == "199.\n");
    const TextArticles articles({files[0]});
    std::filesystem::copy_file(files[0], files[2], std::filesystem::copy_options::overwrite_existing);
    std::filesystem::last_write_time(files[2], std::filesystem::last_write_time(files[0]));
    std::filesystem::rename(files[2], files[0]);
    CHECK(articles.read(articles.parts()[0]) == "0.\n");  // the same file under another inode number
    write_text(files[1], "Longer.\n");
    std::filesystem::rename(files[1], files[0]);
    CHECK_THROWS_WITH(articles.read(articles.parts()[0]), Catch::Contains("0: was replaced while it was being read"));
}
