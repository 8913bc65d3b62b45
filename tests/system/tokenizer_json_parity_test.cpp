// Compares `tokenize --vocabulary tokenizer.json` with the package `tokenizers` for the pipelines of tokenizer_json_oracle.py.
// scripts/benchmark/data/tokenizer_json.py does so for published definitions.

#include <iterator>
#include <sstream>

#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "support/command.h"
#include "support/files.h"
#include "support/skip.h"

using namespace bertpretrain::testing;

namespace {

const std::string json_oracle = PYTHON " tests/system/tokenizer_json_oracle.py ";

/// Checks that the ids of a text are equal for all definitions of a folder.
/// @param least bytes of ids per byte of text: that many show that all of the text was encoded
void check_equal_ids(const TemporaryFolder& folder, const std::string& text, const std::vector<std::string>& names,
                     double least = 0.25) {
    for (const std::string& name : names) {
        const std::string definition = (folder / (name + ".json")).string(), ours = (folder / "ours").string(),
                          theirs = (folder / "theirs").string();
        const auto run_theirs = run_command(json_oracle + "ids " + definition + " " + text + " " + theirs);
        const auto run_ours =
            run_command(PROGRAM_FOLDER "/bertpretrain_data tokenize --vocabulary " + definition + " " + text + " > " + ours);
        const auto difference = run_command("cmp " + ours + " " + theirs);  // names the first line that differs
        INFO(name << ": " << run_theirs.err << run_ours.err << difference.out << difference.err);
        CHECK(run_theirs.exit_code == 0);
        CHECK(run_ours.exit_code == 0);
        CHECK(difference.exit_code == 0);
        CHECK(static_cast<double>(std::filesystem::file_size(folder / "ours")) >
              least * static_cast<double>(std::filesystem::file_size(text)));
    }
}

}  // namespace

TEST_CASE("every Unicode scalar value and random text give the ids of tokenizers for all supported steps of a tokenizer.json") {
    const TemporaryFolder folder;
    const auto made = run_command(json_oracle + "definitions " + folder.path().string());
    if (made.exit_code == 77) SKIP_TEST(skip::no_oracle, "no Python with the package tokenizers");
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    const std::string text = (folder / "text").string(), scalars = (folder / "scalars").string();
    REQUIRE(run_command(json_oracle + "text " + text + " 0.3").exit_code == 0);
    check_equal_ids(
        folder, text,
        {"gpt2", "roberta", "modernbert", "llama", "o200k", "deepseek", "lower", "digits", "merged", "accents", "whitespace",
         "unknown", "unfused", "dropped", "pieces", "pieces_cased", "pieces_accents", "pieces_stripped"});
    REQUIRE(run_command(json_oracle + "scalars " + scalars).exit_code == 0);
    check_equal_ids(
        folder, scalars,
        {"modernbert", "o200k", "lower", "accents", "whitespace", "pieces", "pieces_cased", "pieces_accents", "pieces_stripped"});
}

TEST_CASE("Unigram gives the ids of tokenizers for every Unicode scalar value and random text, with all of its steps") {
    const TemporaryFolder folder;
    const auto made = run_command(json_oracle + "unigrams " + folder.path().string());
    if (made.exit_code == 77) SKIP_TEST(skip::no_oracle, "no Python with the package tokenizers");
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    const std::string text = (folder / "text").string(), scalars = (folder / "scalars").string();
    REQUIRE(run_command(json_oracle + "text " + text + " 0.3").exit_code == 0);
    check_equal_ids(folder, text, {"xlm_roberta", "converted", "folded", "first", "never", "alone"});
    REQUIRE(run_command(json_oracle + "scalars " + scalars).exit_code == 0);
    check_equal_ids(folder, scalars, {"xlm_roberta", "converted", "folded", "first"});
}

TEST_CASE("WordLevel, WordPiece and BPE of characters give the ids of tokenizers for random text and Unicode scalar values") {
    const TemporaryFolder folder;
    const auto made = run_command(json_oracle + "others " + folder.path().string());
    if (made.exit_code == 77) SKIP_TEST(skip::no_oracle, "no Python with the package tokenizers");
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    const std::string text = (folder / "text").string(), scalars = (folder / "scalars").string();
    REQUIRE(run_command(json_oracle + "text " + text + " 0.2").exit_code == 0);
    std::istringstream printed(made.out);
    const std::vector<std::string> names{std::istream_iterator<std::string>(printed), {}};
    CHECK(names.size() == 17);
    check_equal_ids(folder, text, names, 0.01);
    REQUIRE(run_command(json_oracle + "scalars " + scalars).exit_code == 0);
    check_equal_ids(folder, scalars,
                    {"level_bert", "pieces_lower", "pieces_plain", "dnabert2", "gpt", "both_marks", "some_bytes"}, 0.1);
}

TEST_CASE("a trained byte-level BPE has the tokens and merges of tokenizers' BpeTrainer, in the same order") {
    const TemporaryFolder folder;
    const std::string text = (folder / "text").string(), theirs = (folder / "theirs.json").string(),
                      ours = (folder / "ours.json").string();
    const auto made = run_command(json_oracle + "text " + text + " 0.5");
    if (made.exit_code == 77) SKIP_TEST(skip::no_oracle, "no Python with the package tokenizers");
    REQUIRE(made.exit_code == 0);
    REQUIRE(run_command("tr -d '\\r' < " + text + " > " + text + ".lines").exit_code == 0);
    const auto run_theirs = run_command(json_oracle + "train " + text + ".lines 3000 " + theirs);
    const auto run_ours = run_command(PROGRAM_FOLDER "/bertpretrain_data vocabulary " + text +
                                      ".lines --format text --model bpe --size 3000 --output " + ours);
    INFO(run_theirs.err << run_ours.err);
    REQUIRE(run_theirs.exit_code == 0);
    REQUIRE(run_ours.exit_code == 0);
    const auto expected = nlohmann::json::parse(read_text(theirs)), found = nlohmann::json::parse(read_text(ours));
    CHECK(expected["model"]["merges"].size() == 3000 - 261);
    CHECK(found["model"]["merges"] == expected["model"]["merges"]);
    CHECK(found["model"]["vocab"] == expected["model"]["vocab"]);
    const std::string masks = (folder / "masks").string();
    write_text(masks, "a [MASK] b [MASK]. [MASK] [MASK]  [MASK]\t[MASK] \t [MASK]\u00a0[MASK]e\u0301[MASK]\n[MASK] a\n [MASK]\n");
    check_equal_ids(folder, masks, {"ours"});
}
