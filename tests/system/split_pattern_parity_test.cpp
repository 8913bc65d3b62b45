// Compares the Split steps of a tokenizer.json with the package `tokenizers`, on the random expressions of
// split_pattern_oracle.py. More of them by hand: SPLIT_PATTERN_CASES="SEED ROUNDS" build/release/test_system "random
// expressions*"

#include <cstdlib>
#include <fstream>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/skip.h"
#include "tokens/definition/tokenizer_json_steps.h"
#include "tokens/models/word_splitter.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

using Places = std::vector<std::size_t>;

/// Returns begin and end of each word.
Places words_of(const WordSplitter& splitter, const std::string& text) {
    Places places;
    WordSplitter::Memory memory;
    splitter.split(text, true, memory, [&](std::string_view word) {
        const auto begin = static_cast<std::size_t>(word.data() - text.data());
        places.insert(places.end(), {begin, begin + word.size()});
    });
    return places;
}

struct Counts {
    std::size_t equal = 0, refused = 0;  ///< expressions
};

/// Checks that each case of the oracle's file is refused, or splits its texts as tokenizers does.
/// @param scalars the text of rows that have none
Counts check_cases(const std::filesystem::path& file, const std::string& scalars) {
    Counts counts;
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        const auto row = nlohmann::json::parse(line);
        nlohmann::json steps = row["steps"];
        steps.push_back({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}});
        const nlohmann::json part{{"type", "Sequence"}, {"pretokenizers", steps}};
        INFO(row["steps"].dump());
        std::optional<WordSplitter> splitter;
        try {
            splitter.emplace(read_pre_tokenizer(JsonPart(part, "tokenizer.json")).steps, "tokenizer.json");
        } catch (const DataError& error) {
            CHECK(std::string(error.what()).size() > 30);
            ++counts.refused;
            continue;
        }
        CHECK(row["rows"].is_array());  // what tokenizers refuses is refused
        for (const auto& expected : row["rows"]) {
            const std::string text = expected["text"].is_null() ? scalars : expected["text"].get<std::string>();
            const Places places = words_of(*splitter, text);
            INFO(expected["text"].dump());
            if (places != expected["words"].get<Places>()) {
                CHECK(nlohmann::json(places).dump() == expected["words"].dump());
                break;
            }
        }
        ++counts.equal;
    }
    return counts;
}

const std::string split_oracle = PYTHON " tests/system/split_pattern_oracle.py ";

}  // namespace

TEST_CASE("random expressions, behaviors and texts split as in tokenizers, or the expression is refused") {
    const TemporaryFolder folder;
    const char* const asked = std::getenv("SPLIT_PATTERN_CASES");
    const auto made =
        run_command(split_oracle + "cases " + (asked == nullptr ? "1 1200" : asked) + " " + (folder / "cases").string());
    if (made.exit_code == 77) SKIP_TEST(skip::no_oracle, "no Python with the package tokenizers");
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    const Counts counts = check_cases(folder / "cases", "");
    CHECK(counts.equal > 700);
}

TEST_CASE("each class of characters, alone and in brackets, has tokenizers' characters among all assigned ones") {
    const TemporaryFolder folder;
    const auto made = run_command(split_oracle + "classes " + (folder / "cases").string());
    if (made.exit_code == 77) SKIP_TEST(skip::no_oracle, "no Python with the package tokenizers");
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    REQUIRE(run_command(split_oracle + "scalars " + (folder / "scalars").string()).exit_code == 0);
    CHECK(check_cases(folder / "cases", read_text(folder / "scalars")).equal == 55);
}
