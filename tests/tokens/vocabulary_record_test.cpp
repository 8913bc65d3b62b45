#include "tokens/vocabulary/vocabulary_record.h"

#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"
#include "tokens/models/vocabulary_casing.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Tokens of which too few have capitals or accents to tell that their text had them.
std::string tokens() {
    std::string lines = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nHän\nnäkee\n";
    for (int i = 0; i < 100; ++i) lines += "talo" + std::string(static_cast<std::size_t>(i), 'a') + "\n";
    return lines;
}

Casing chosen(const std::filesystem::path& file, bool wants_cased = false) {
    return choose_casing(Vocabulary::read(file), file, wants_cased);
}

}  // namespace

TEST_CASE("a vocabulary's record says its casing until the file changes") {
    const TemporaryFolder folder;
    const auto file = folder / "suomi.txt";
    write_text(file, tokens());
    CHECK(chosen(file) == Casing::uncased);
    write_vocabulary_record(file, Casing::cased);
    CHECK(chosen(file) == Casing::cased);
    CHECK(chosen(file, true) == Casing::cased);
    write_text(file, tokens() + "uusi\n");
    CHECK_FALSE(recorded_casing(file));
    CHECK(chosen(file) == Casing::uncased);

    write_vocabulary_record(file, Casing::uncased);
    CHECK(chosen(file) == Casing::uncased);
    CHECK_THROWS_AS(chosen(file, true), ConfigError);
}

TEST_CASE("a vocabulary that is shorter than its record says is refused, because its last tokens are missing") {
    const TemporaryFolder folder;
    const auto file = folder / "suomi.txt";
    write_text(file, tokens());
    write_vocabulary_record(file, Casing::cased);
    write_text(file, tokens().substr(0, tokens().find("taloaaa\n")));
    CHECK_THROWS_WITH(Vocabulary::read(file), Catch::Contains(" bytes, but suomi.txt.lineage.json says"));
    std::filesystem::remove(folder / "suomi.txt.lineage.json");
    CHECK_NOTHROW(Vocabulary::read(file));
}

TEST_CASE("the casing of a published vocab.txt is the one that tokenizer_config.json beside it records") {
    const TemporaryFolder folder;
    const auto file = folder / "vocab.txt", config = folder / "tokenizer_config.json";
    write_text(file, tokens());
    write_text(folder / "other.txt", tokens());
    const auto with = [&](const std::string& text) {
        write_text(config, text);
        return recorded_casing(file);
    };
    CHECK(with(R"({"do_lower_case": false})") == Casing::cased);
    CHECK(chosen(file) == Casing::cased);
    CHECK_FALSE(recorded_casing(folder / "other.txt"));
    CHECK(with(R"({"do_lower_case": true, "strip_accents": null})") == Casing::uncased);
    CHECK(with(R"({"do_lower_case": false, "strip_accents": false})") == Casing::cased);
    for (const char* silent :
         {"", "{", "[]", "{}", R"({"do_lower_case": "no"})", R"({"do_lower_case": true, "strip_accents": false})"})
        CHECK_FALSE(with(silent));
    with(R"({"do_lower_case": true})");
    write_vocabulary_record(file, Casing::cased);
    CHECK(recorded_casing(file) == Casing::cased);
}

TEST_CASE("a damaged record of a vocabulary says nothing") {
    const TemporaryFolder folder;
    const auto file = folder / "vocab.txt", record = folder / "vocab.txt.lineage.json";
    write_text(file, tokens());
    for (const char* damaged :
         {"", "{", "null", "[1]", R"({"casing": 1})", R"({"casing": "cased"})", R"({"casing": "cased", "sha256": 7})"}) {
        write_text(record, damaged);
        CHECK_FALSE(recorded_casing(file));
    }
}
