#include "tokens/training/vocabulary_training.h"

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/random.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/golden.h"
#include "support/skip.h"
#include "tokens/training/line_blocks.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using Strings = std::vector<std::string>;

namespace {

Strings train(const WordCounts& counts, std::int32_t size, std::int64_t min_frequency = 2, std::size_t alphabet_limit = 1000) {
    const VocabularyTraining training{.size = size, .min_frequency = min_frequency, .alphabet_limit = alphabet_limit};
    const Strings tokens = train_vocabulary(counts, training).tokens();
    REQUIRE(std::equal(std::begin(special_tokens), std::end(special_tokens), tokens.begin()));
    return {tokens.begin() + 5, tokens.end()};
}

/// The oracle: recounts all pairs for each merge. Takes ASCII words without dropped characters.
Strings train_plainly(const WordCounts& counts, std::size_t size, std::int64_t min_frequency) {
    Strings tokens;
    std::set<std::string> firsts, nexts;
    std::vector<std::pair<Strings, std::int64_t>> words;
    for (const auto& [word, count] : counts) {
        Strings pieces;
        for (const char c : word) {
            firsts.insert(std::string(1, c));
            pieces.push_back(pieces.empty() ? std::string(1, c) : std::string("##") + c);
            if (pieces.size() > 1) nexts.insert(pieces.back());
        }
        words.emplace_back(pieces, count);
    }
    tokens.insert(tokens.end(), firsts.begin(), firsts.end());
    tokens.insert(tokens.end(), nexts.begin(), nexts.end());
    const auto id = [&](const std::string& token) { return std::find(tokens.begin(), tokens.end(), token) - tokens.begin(); };
    while (tokens.size() + 5 < size) {
        std::map<std::pair<std::ptrdiff_t, std::ptrdiff_t>, std::int64_t> pairs;
        for (const auto& [pieces, count] : words)
            for (std::size_t i = 1; i < pieces.size(); ++i) pairs[{id(pieces[i - 1]), id(pieces[i])}] += count;
        const auto best =
            std::max_element(pairs.begin(), pairs.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
        if (best == pairs.end() || best->second < min_frequency) break;
        const std::string left = tokens[static_cast<std::size_t>(best->first.first)];
        const std::string right = tokens[static_cast<std::size_t>(best->first.second)];
        const std::string joined = left + (right.starts_with("##") ? right.substr(2) : right);
        if (std::find(tokens.begin(), tokens.end(), joined) == tokens.end()) tokens.push_back(joined);
        for (auto& [pieces, count] : words)
            for (std::size_t i = 0; i + 1 < pieces.size(); ++i)
                if (pieces[i] == left && pieces[i + 1] == right) {
                    pieces[i] = joined;
                    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(i) + 1);
                }
    }
    return tokens;
}

}  // namespace

TEST_CASE("the most frequent pair becomes a piece first, and ties go to the smaller ids") {
    CHECK(train({{"ab", 3}, {"cab", 2}}, 100) == Strings{"a", "b", "c", "##a", "##b", "ab", "ca", "cab"});
    CHECK(train({{"ba", 2}, {"ab", 2}, {"aa", 1}}, 100) == Strings{"a", "b", "##a", "##b", "ab", "ba"});
    CHECK(train({{"ba", 2}, {"ab", 2}, {"aa", 1}}, 100, 3) == Strings{"a", "b", "##a", "##b"});
    CHECK(train({{"ba", 2}, {"ab", 2}, {"aa", 1}}, 10) == Strings{"a", "b", "##a", "##b", "ab"});
}

TEST_CASE("incremental counts give the same tokens in the same order as recounting all pairs") {
    RandomSequence random(7, Purpose::masking, 0);
    for (int round = 0; round < 30; ++round) {
        std::map<std::string, std::int64_t> different;
        const std::uint32_t letters = 1 + random.below(4);  // few letters give repetitions and many ways to build the same piece
        for (int i = 0; i < 40; ++i) {
            std::string word(1 + random.below(9), 'a');
            for (char& c : word) c = static_cast<char>('a' + random.below(letters));
            different[word] = 1 + random.below(5);
        }
        const WordCounts counts(different.begin(), different.end());
        const std::int64_t min_frequency = 1 + random.below(4);
        INFO("round " << round);
        CHECK(train(counts, 80, min_frequency) == train_plainly(counts, 80, min_frequency));
    }
}

TEST_CASE("a limited alphabet keeps the most frequent characters, and ties go to the smaller code points") {
    CHECK(train({{"a", 5}, {"c", 2}, {"b", 2}, {"d", 1}, {"\xC3\xA9", 9}}, 100, 2, 3) == Strings{"a", "b", "\xC3\xA9"});
    CHECK(train({{"axb", 5}, {"b", 3}}, 100, 6, 2) == Strings{"a", "b", "##b"});
}

TEST_CASE("a size that cannot hold the characters is refused, and the message gives the smallest valid size") {
    try {
        train({{"abc", 5}}, 9);
        FAIL("accepted");
    } catch (const ConfigError& error) {
        CHECK(std::string(error.what()).find("special tokens and characters alone need 10") != std::string::npos);
    }
    CHECK(train({{"abc", 5}}, 10).size() == 5);
}

TEST_CASE("words are counted over all files, with the same result for every number of threads", "[system]") {
    const TemporaryFolder folder;
    std::string many;
    for (int i = 0; i < 300'000; ++i) many += i % 3 == 0 ? "Caf\xC3\xA9 x\n" : i % 3 == 1 ? "one, two\n" : "\n";
    write_text(folder / "a", many);
    write_text(folder / "empty", "");
    write_text(folder / "b", "two without newline");
    const std::vector<std::filesystem::path> files = {folder / "a", folder / "empty", folder / "b"};
    const std::map<std::string, std::int64_t> expected = {{"cafe", 100'000}, {"x", 100'000}, {"one", 100'000}, {",", 100'000},
                                                          {"two", 100'001},  {"without", 1}, {"newline", 1}};
    const WordCounts counted = count_words(files, Casing::uncased, 1), cased = count_words(files, Casing::cased, 2);
    CHECK(counted.size() == expected.size());
    CHECK(std::map(counted.begin(), counted.end()) == expected);
    CHECK(count_words(files, Casing::uncased, 3) == counted);
    CHECK(std::ranges::count(cased, std::pair<std::string, std::int64_t>("Caf\xC3\xA9", 100'000)) == 1);
    std::string different;  // more words than a thread collects before it merges its counts, each word twice
    for (int i = 0; i < 600'000; ++i) different += "w" + std::to_string(i % 300'000) + "\n";
    write_text(folder / "different", different);
    for (const std::size_t threads : {1U, 3U}) {
        const WordCounts counts = count_words({folder / "different"}, Casing::uncased, threads);
        CHECK(counts.size() == 300'000);
        CHECK(std::ranges::all_of(counts, [](const auto& word) { return word.second == 2; }));
    }
    CHECK_THROWS_AS(count_words({folder / "a", folder / "absent"}, Casing::cased, 2), DataError);
}

TEST_CASE("blocks end at line ends, and concatenated they equal the text") {
    const std::string text = "a\nbc\n\n\ndefghi\njk";
    for (std::size_t block_bytes = 1; block_bytes <= text.size() + 1; ++block_bytes) {
        for (const std::string ending : {"", "\n"}) {
            std::istringstream in(text + ending);
            LineBlocks blocks(in, "text", block_bytes);
            std::string joined;
            Strings lines;
            for (std::string block; blocks.next(block);) {
                joined += block;
                CHECK((block.ends_with('\n') || joined.size() == text.size() + ending.size()));
                for_each_line(block, [&](std::string_view line) { lines.emplace_back(line); });
            }
            CHECK(joined == text + ending);
            CHECK(lines == Strings{"a", "bc", "", "", "defghi", "jk"});
        }
    }
}

TEST_CASE("a line of hundreds of megabytes is refused, because a block must fit into memory") {
    class EndlessLine : public std::streambuf {
        int_type underflow() override {
            setg(letters_.data(), letters_.data(), letters_.data() + letters_.size());
            return 'x';
        }
        std::string letters_ = std::string(4096, 'x');
    } line;
    std::istream in(&line);
    LineBlocks blocks(in, "endless.txt");
    try {
        std::string block;
        blocks.next(block);
        FAIL("accepted");
    } catch (const DataError& error) {
        CHECK(std::string(error.what()) ==
              "data error: endless.txt: a line is longer than 64.0 MiB; expected text with one sentence per line");
    }
}

TEST_CASE("a trained vocabulary equals Hugging Face's, except for its choice among equally frequent pairs") {
    const TemporaryFolder folder;
    write_text(folder / "text", read_text(golden_sample("text.txt")));
    write_text(folder / "train.py", R"(
import json, sys
try:
    from tokenizers import BertWordPieceTokenizer
except ImportError:
    sys.exit(77)
tokenizer = BertWordPieceTokenizer()
tokenizer.train(sys.argv[1], vocab_size=1000, show_progress=False)
print(json.dumps(sorted(tokenizer.get_vocab())))
)");
    const auto result = run_command(PYTHON " " + (folder / "train.py").string() + " " + (folder / "text").string());
    if (result.exit_code != 0) SKIP_TEST(skip::no_oracle, "no Python with the package tokenizers: " + result.err);
    const auto theirs = nlohmann::json::parse(result.out).get<std::set<std::string>>();
    REQUIRE(theirs.size() == 1000);
    const Strings ours = train(count_words({folder / "text"}, Casing::uncased, 2), 1000);
    // Two runs of Hugging Face's trainer differ from each other by up to about 6 tokens.
    CHECK(std::count_if(ours.begin(), ours.end(), [&](const std::string& token) { return !theirs.contains(token); }) <= 20);
}
