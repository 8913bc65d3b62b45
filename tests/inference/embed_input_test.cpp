// What `embed` reads of a file, and what `neighbours --text` reads of it again.
#include "inference/embed_input.h"

#include "archive/text_ids.h"
#include "core/error.h"
#include "inference/embed_inputs.h"
#include "inference/embedded_texts.h"
#include "inference/text_lines.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

const char* const utf8_text =
    "Stra\xC3\x9F"
    "e\nz\xC3\xBC"
    "gig\n";
const char* const latin_text =
    "Stra\xDF"
    "e\nz\xFC"
    "gig\n";

std::vector<std::string> texts_of(const fs::path& input, const InputSettings& settings, const fs::path& folder) {
    const EmbedInput found = prepare_embed_input(input, settings, false, folder, 2);
    const TextSurvey text = found.are_records ? survey_records(found.file, input.string()) : survey_text(found.file);
    return read_lines(text, text.parts.front());
}

/// The origin of vectors that were made of an input.
VectorOrigin origin_of_texts(const fs::path& input, const InputSettings& settings, const fs::path& folder) {
    const EmbedInput found = prepare_embed_input(input, settings, false, folder, 2);
    const TextSurvey text = found.are_records ? survey_records(found.file, input.string()) : survey_text(found.file);
    return {.text_crc32 = text.crc32, .text_bytes = text.bytes};
}

std::string refusal_of_texts(const fs::path& input, const InputSettings& settings, std::int64_t rows,
                             const VectorOrigin& origin) {
    try {
        texts_of_rows({input}, settings, rows, origin, {0}, 2);
    } catch (const DataError& error) { return error.what(); }
    return "no refusal";
}

}  // namespace

TEST_CASE("lines and records in a named encoding are the texts of the same file in UTF-8") {
    const TemporaryFolder folder;
    const std::vector<std::string> expected{
        "Stra\xC3\x9F"
        "e",
        "z\xC3\xBC"
        "gig"};
    InputSettings latin;
    latin.encoding = "latin-1";
    write_text(folder / "latin.txt", latin_text);
    CHECK(texts_of(folder / "latin.txt", latin, folder.path()) == expected);
    write_text(folder / "latin.jsonl",
               "{\"text\": \"Stra\xDF"
               "e\"}\n{\"text\": \"z\xFC"
               "gig\"}\n");
    CHECK(texts_of(folder / "latin.jsonl", latin, folder.path()) == expected);
    InputSettings wide;
    wide.encoding = "utf-16le";
    write_text(folder / "wide.txt", std::string("o\0n\0e\0\n\0", 8));
    CHECK(texts_of(folder / "wide.txt", wide, folder.path()) == std::vector<std::string>{"one"});
    latin.letters = "apart";
    CHECK(texts_of(folder / "latin.txt", latin, folder.path()).front() == "S t r a \xC3\x9F e");
    latin.encoding = "klingon";
    CHECK_THROWS_AS(texts_of(folder / "latin.txt", latin, folder.path()), ConfigError);
}

TEST_CASE("a sequence of FASTA is a text without a line end, as the same letters in JSONL are") {
    const TemporaryFolder folder;
    InputSettings together;
    together.letters = "together";
    write_text(folder / "a.fasta", ">first\nMK\nVL\n");
    CHECK(texts_of(folder / "a.fasta", together, folder.path()) == std::vector<std::string>{"MKVL"});
}

TEST_CASE("text in another encoding is refused with the option that names one") {
    const TemporaryFolder folder;
    write_text(folder / "latin.txt", latin_text);
    CHECK_THROWS_WITH(texts_of(folder / "latin.txt", {}, folder.path()),
                      Catch::Contains("latin.txt") && Catch::Contains("--encoding"));
}

TEST_CASE("texts are given to rows only where they are the ones that the vectors were made of") {
    const TemporaryFolder folder;
    write_text(folder / "text", "one\ntwo\nthree\n");
    write_text(folder / "shuffled", "two\none\nthree\n");
    write_text(folder / "fields.jsonl", "{\"text\": \"one\", \"name\": \"1\"}\n{\"text\": \"two\", \"name\": \"2\"}\n");
    const VectorOrigin origin = origin_of_texts(folder / "text", {}, folder.path());
    CHECK(texts_of_rows({folder / "text"}, {}, 3, origin, {1}, 2) == std::map<std::int64_t, std::string>{{1, "two"}});
    CHECK(texts_of_rows({folder / "shuffled"}, {}, 3, {}, {1}, 2) == std::map<std::int64_t, std::string>{{1, "one"}});
    CHECK_THAT(refusal_of_texts(folder / "shuffled", {}, 3, origin),
               Catch::Contains("shuffled: has") && Catch::Contains("the vectors were made of"));
    const VectorOrigin of_records = origin_of_texts(folder / "fields.jsonl", {}, folder.path());
    CHECK(texts_of_rows({folder / "fields.jsonl"}, {}, 2, of_records, {0}, 2).at(0) == "one");
    InputSettings names;
    names.text_field = "name";
    CHECK_THAT(refusal_of_texts(folder / "fields.jsonl", names, 2, of_records),
               Catch::Contains("fields.jsonl: has") && Catch::Contains("--text-field"));
    InputSettings latin;
    latin.encoding = "latin-1";
    write_text(folder / "latin.txt", latin_text);
    write_text(folder / "utf8.txt", utf8_text);
    CHECK(
        texts_of_rows({folder / "latin.txt"}, latin, 2, origin_of_texts(folder / "utf8.txt", {}, folder.path()), {1}, 2).at(1) ==
        "z\xC3\xBC"
        "gig");
}

TEST_CASE("the texts of several files and folders are one after the other, and ids name file and text") {
    const TemporaryFolder folder;
    const fs::path in = folder / "in", out = folder / "out";
    fs::create_directories(in / "deep");
    fs::create_directories(out);
    write_text(in / "b.txt", "one\r\n\ntwo");
    write_text(in / "deep/c.jsonl", "{\"text\": \"three\\nlines\", \"sku\": 7}\n{\"text\": \"four\", \"sku\": 8}\n");
    write_text(in / "empty.txt", "");
    write_text(folder / "a.fasta", ">first\nMK\n");
    const std::vector<fs::path> inputs{folder / "a.fasta", in};
    const auto found = [&](const std::vector<fs::path>& of, const InputSettings& settings, bool asks_for_fields) {
        const EmbedInput input = prepare_embed_inputs(of, settings, asks_for_fields, out, 2);
        const TextSurvey text = survey_records(input.file, input.name);
        std::vector<std::pair<std::string, std::string>> rows;
        const std::vector<std::string> ids = TextIds(input.ids).next(100), texts = read_lines(text, text.parts.front());
        REQUIRE(ids.size() == texts.size());
        for (std::size_t i = 0; i < ids.size(); ++i) rows.emplace_back(ids[i], texts[i]);
        return rows;
    };
    using Rows = std::vector<std::pair<std::string, std::string>>;
    const std::string b = (in / "b.txt").string(), c = (in / "deep/c.jsonl").string();
    CHECK(found(inputs, {}, false) == Rows{{"first", "M K"},
                                           {b + ":1", "one"},
                                           {b + ":2", ""},
                                           {b + ":3", "two"},
                                           {c + ":1", "three\nlines"},
                                           {c + ":2", "four"}});
    CHECK_FALSE(fs::exists(out / embed_part_folder));
    InputSettings skus;
    skus.id_field = "sku";
    CHECK(found({in / "deep"}, skus, true) == Rows{{"7", "three\nlines"}, {"8", "four"}});
    CHECK_THROWS_WITH(found(inputs, skus, true), Catch::Contains("b.txt: is plain text, whose lines have no fields"));
    CHECK_THROWS_WITH(found({c, c}, {}, false), Catch::Contains("is given twice"));
    CHECK(texts_of_rows(inputs, {}, 6, {}, {0, 4}, 2) == std::map<std::int64_t, std::string>{{0, "M K"}, {4, "three\nlines"}});
}
