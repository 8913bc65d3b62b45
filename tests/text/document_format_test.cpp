#include "text/document_format.h"

#include "core/error.h"
#include "support/catch.h"

using namespace bertpretrain;
using namespace std::string_literals;
using Catch::Matchers::Contains;

namespace {

std::string format_name(const std::string& head, const std::string& file = "corpus", const InputSettings& settings = {}) {
    const DocumentFormat format = format_of(head, file, settings);
    if (format.kind != DocumentFormat::Kind::table) return std::string(name_of(format.kind));
    return format.delimiter == '\t' ? "TSV" : std::string("CSV with ") + format.delimiter;
}

/// The message with which a file is refused.
std::string refusal_of_head(const std::string& head) {
    try {
        return format_name(head);
    } catch (const DataError& error) { return error.what(); }
}

InputSettings with_field(const std::string& field) {
    InputSettings settings;
    settings.text_field = field;
    return settings;
}

}  // namespace

TEST_CASE("text is recognized in any script, also where it resembles another format") {
    for (const char* text :
         {"a", "Käse 中文 😀\n", "\xEF\xBB\xBFwith a mark\n", "{not json}\n", "{\"quoted\" text\n", "[1] A note.\n", "PAR 1\n",
          "<unk> is a token.\n", "One, two.\nThree, four.\nFive, six.\nSeven, eight.\n",
          "The text, as we know, is long.\nMore, and more, of it.\n", "low low\nnew newer\n"})
        CHECK(format_name(text) == "plain text");
}

TEST_CASE("dumps, JSONL and tables are recognized by how they begin") {
    CHECK(format_name("<mediawiki xmlns=\"x\">") == "a Wikipedia dump");
    CHECK(format_name("\n<?xml version=\"1.0\"?>") == "a Wikipedia dump");
    CHECK(format_name("\xFF\xFE<\0m\0"s) == "a Wikipedia dump");
    CHECK(format_name("<doc id=\"1\" url=\"\" title=\"A\">\n") == "a Wikipedia dump");
    CHECK(format_name("PAR1\x15\4") == "Parquet");
    CHECK(format_name("{\"text\": \"A.\"}\n") == "JSONL");
    CHECK(format_name("\xEF\xBB\xBF{ \"a\\\"b\" : 1}") == "JSONL");
    CHECK(format_name("id,text\n1,A.\n") == "CSV with ,");
    CHECK(format_name("id;\"text\"\r\n1;A.\r\n") == "CSV with ;");
    CHECK(format_name("text\tid\nA.\t1\n") == "TSV");
    CHECK(format_name("id,body\n1,A.\n", "corpus", with_field("body")) == "CSV with ,");
}

TEST_CASE("a table without the text field is a table all the same, so that its rows are not read as prose") {
    CHECK(format_name("id,body\n1,A.\n2,\"B, or\nC.\"\n") == "CSV with ,");
    CHECK(format_name("id\tbody\n1\tA.\n2\tB.\n") == "TSV");
    CHECK(format_name("body\nA.\n", "corpus.csv.gz") == "CSV with ;");
    CHECK(format_name("text\nA.\n", "corpus.tsv") == "TSV");
    CHECK(format_name("text\nA.\n") == "plain text");
}

TEST_CASE("the format that the settings name is taken instead") {
    InputSettings settings;
    settings.format = "text";
    CHECK(format_name("{\"text\": \"A.\"}\n", "corpus", settings) == "plain text");
    settings.format = "tsv";
    CHECK(format_name("text\nA.\n", "corpus", settings) == "TSV");
}

TEST_CASE("formats that hold no text that can be read are refused by name, with what to do") {
    for (const auto& [head, name] :
         std::vector<std::pair<std::string, std::string>>{{"PARE\x15"s, "an encrypted Parquet file"},
                                                          {"\x89HDF\r\n\x1A\n"s, "an HDF5 file"},
                                                          {"\xFF\xFEK\0\xE4\0"s, "UTF-16 text"},
                                                          {"%PDF-1.7\n"s, "a PDF file"},
                                                          {"<!DOCTYPE html><p>A.</p>"s, "an HTML page"},
                                                          {"<HTML>"s, "an HTML page"},
                                                          {"[\n {\"text\": \"A.\"}]"s, "one JSON array"},
                                                          {"\x7F"
                                                           "ELF\2\1\1\0\0\0\0"s,
                                                           "a binary file"},
                                                          {"K\0\xE4\0s\0e\0"s, "a binary file"}}) {
        CAPTURE(name);
        CHECK_THAT(refusal_of_head(head), Contains("corpus: is " + name) && Contains("do: "));
    }
    std::string tar(512, '\0');
    tar.replace(257, 5, "ustar");
    CHECK_THAT(refusal_of_head(tar), Contains("a tar archive"));
}
