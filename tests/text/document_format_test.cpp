#include "text/formats/document_format.h"

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
    CHECK(format_name("\n<?xml version=\"1.0\"?>\n<!-- a -->\n<mediawiki>") == "a Wikipedia dump");
    CHECK(format_name("  <page>\n    <title>A</title>") == "a Wikipedia dump");
    CHECK(format_name("<!DOCTYPE mediawiki [<!ENTITY a \"b\">]>\n<mediawiki>") == "a Wikipedia dump");
    CHECK(format_name("<doc id=\"1\" url=\"\" title=\"A\">\n") == "a Wikipedia dump");
    CHECK(format_name("PAR1\x15\4") == "Parquet");
    CHECK(format_name("{\"text\": \"A.\"}\n") == "JSONL");
    CHECK(format_name("\xEF\xBB\xBF{ \"a\\\"b\" : 1}") == "JSONL");
    CHECK(format_name("id,text\n1,A.\n") == "CSV with ,");
    CHECK(format_name("id;\"text\"\r\n1;A.\r\n") == "CSV with ;");
    CHECK(format_name("text\tid\nA.\t1\n") == "TSV");
    CHECK(format_name("id,body\n1,A.\n", "corpus", with_field("body")) == "CSV with ,");
}

TEST_CASE("Excel's first line names the separator of a table, and another separator is refused where the file is a table") {
    CHECK(format_name("sep=;\nid;text\n1;A, B.\n") == "CSV with ;");
    CHECK(format_name("SEP=,\r\nid,text\r\n1;2,A.\r\n") == "CSV with ,");
    CHECK(format_name("\xEF\xBB\xBF\"sep=\t\"\nid\ttext\n") == "TSV");
    CHECK(format_name("sep=\\t\nid\ttext\n", "corpus.csv") == "TSV");
    CHECK(format_name("sep=;\ntext\nA.\n") == "CSV with ;");
    CHECK(format_name("sep=;\nnot a table\n") == "plain text");
    CHECK(format_name("sep=|\nnot a table\n") == "plain text");
    CHECK_THROWS_WITH(format_name("sep=|\nid|text\n", "corpus.csv"),
                      Contains("corpus.csv:1: \"sep=|\" names a separator that is not supported"));
    InputSettings tsv;
    tsv.format = "tsv";
    CHECK_THROWS_WITH(format_name("sep=;\nid;text\n", "corpus", tsv), Contains("names another separator than --format tsv"));
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
                                                          {"%PDF-1.7\n"s, "a PDF file"},
                                                          {"[\n {\"text\": \"A.\"}]"s, "one JSON array"},
                                                          {"\x7F"
                                                           "ELF\2\1\1\0\0\0\0"s,
                                                           "a program"},
                                                          {"K\0\xE4\0s\0e\0"s, "UTF-16 without a byte order mark"}}) {
        CAPTURE(name);
        CHECK_THAT(refusal_of_head(head), Contains("corpus: is " + name) && Contains("do: "));
    }
    std::string tar(512, '\0');
    tar.replace(257, 5, "ustar");
    CHECK_THAT(refusal_of_head(tar), Contains("a tar archive"));
}

TEST_CASE("Markdown and code are text, and never refused for their looks") {
    for (const char* text : {"<!-- Licence -->\n\n# A page\n\nThe text.\n",
                             "<p align=\"center\">\n<img src=\"a.png\">\n</p>\n",
                             "<rss version=\"2.0\">\n",
                             "<feed><entry>A.</entry></feed>\n",
                             "<page>\n<p>A page of other markup.</p>\n",
                             "<doc>\nA text.\n</doc>\n",
                             "<?php echo 1;\n",
                             "<<EOF\n",
                             "<3 this\n",
                             "<!-- open",
                             "#include <vector>\nint a[] = {1};\n",
                             "{\n  int a;\n}\n",
                             "ORCHARDS are here.\n",
                             "PARENTS are here.\n",
                             "GGUF is a format.\n",
                             "WARC/records\n",
                             "LZIP is a program.\n",
                             "PDF-1.7\n",
                             "BZh is its mark.\n",
                             "The page ends with </page>.\n"})
        CHECK(format_name(text) == "plain text");
}

TEST_CASE("text that stands for something else is refused by name, and --format text reads it all the same") {
    const std::string object = "{\"text\": \"A.\"}";
    InputSettings forced;
    forced.format = "text";
    for (const auto& [head, name] : std::vector<std::pair<std::string, std::string>>{
             {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "a Git LFS pointer"},
             {"version https://git-lfs.github.com/spec/v1\r\noid sha256:00\r\nsize 1\r\n", "a Git LFS pointer"},
             {"/annex/objects/SHA256E-s1--00.txt\n", "a git-annex pointer"},
             {"WARC/1.0\r\nWARC-Type: warcinfo\r\n", "a WARC file"},
             {"<feed>\n<doc>\n<title>Wikipedia: A</title>", "MediaWiki's feed of abstracts"},
             {"<?xml version=\"1.0\"?>\n<Error><Code>NoSuchKey</Code></Error>", "the error message of an object store"},
             {"rest of it</text>\n</revision>\n</page>\n<page>\n<title>A</title>\n", "a piece of a MediaWiki dump"},
             {"rest of it.\n\n</doc>\n<doc id=\"1\" url=\"\" title=\"A\">\n", "a piece of WikiExtractor's output"},
             {"[" + object + ", " + object + "]", "one JSON array"},
             {"[\n" + object + ",\n" + object + "\n]\n", "one JSON array"},
             {object + object, "JSON whose objects do not stand one per line"},
             {"{\n  \"text\": \"A.\"\n}\n", "JSON whose objects do not stand one per line"},
             {object + ",\n" + object + ",\n", "JSON with commas"},
             {"[\"1\", \"A.\"]\n[\"2\", \"B.\"]\n", "JSON with an array per line"},
             {"\"A.\\nB.\"\n", "JSON with a string per line"},
             {"{'text': 'A.'}\n{'text': 'B.'}\n", "lines that resemble JSON objects"},
             {"<!doctype html><p>A.</p>", "an HTML page"},
             {"\n<HTML lang=\"en\">A.", "an HTML page"},
             {"<?xml version=\"1.0\"?>\n<TEI><text>A.</text></TEI>\n", "XML, but no MediaWiki dump"},
             {"[PAD]\n[UNK]\n[CLS]\n", "a vocabulary, with a token per line"},
             {"{\\rtf1 A.}\n", "an RTF document"}}) {
        CAPTURE(name);
        CHECK_THAT(refusal_of_head(head), Contains("corpus: is " + name) && Contains("do: ") && Contains("--format text"));
        CHECK(format_name(head, "corpus", forced) == "plain text");
    }
}

TEST_CASE("containers and packed files are refused by name, also with --format text") {
    InputSettings forced;
    forced.format = "text";
    for (const auto& [head, name] :
         std::vector<std::pair<std::string, std::string>>{{"\xFF\xFF\xFF\xFF\x10\1\0\0"s, "an Arrow stream"},
                                                          {"ARROW1\0\0"s, "an Arrow file"},
                                                          {"PK\3\4\x14\0"s, "a zip archive"},
                                                          {"\xFD"
                                                           "7zXZ\0"s,
                                                           "compressed with xz"},
                                                          {"\x04\x22\x4D\x18\x64"s, "compressed with lz4"},
                                                          {"ORC\x0A\x0B\x03\0"s, "an ORC file"},
                                                          {"\0\0\0K\0\0\0a\0\0\0s\0\0\0e"s, "UTF-32 without a byte order mark"},
                                                          {"\0K\0a\0s\0e"s, "UTF-16 without a byte order mark"}}) {
        CAPTURE(name);
        CHECK_THAT(refusal_of_head(head), Contains("corpus: is " + name) && Contains("do: ") && !Contains("--format text"));
        CHECK_THROWS_WITH(format_name(head, "corpus.jsonl", forced), Contains("is " + name));
    }
}

TEST_CASE("the name tells JSONL where its lines do not, so that broken records are not read as prose") {
    CHECK(format_name("{\"text\": A.}\nprose\nprose\n", "corpus.jsonl.gz") == "JSONL");
    CHECK(format_name("prose\n", "corpus.ndjson") == "JSONL");
    CHECK(format_name("{'text': 'A.'}\n{'text': 'B.'}\n", "corpus.jsonl") == "JSONL");
    CHECK(format_name("prose\n", "corpus.json") == "plain text");
}
