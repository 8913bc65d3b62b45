// Reads WikiExtractor's output.

#include "page_reader.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/shared_data.h"
#include "text/reader/extract.h"
#include "text/wiki/wikiextractor_prose.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

const std::string two_documents =
    "<doc id=\"12\" url=\"https://x/wiki?curid=12\" title=\"The \"A\" &amp; B\">\nThe \"A\" &amp; B\n\nOne is. Two is.\n"
    "Section::::History.\nThree &lt; four.\n\n</doc>\n<doc id=\"13\" url=\"u\" title=\"Empty\">\nEmpty\n\n</doc>\n";

ExtractCounts extract_to(const std::filesystem::path& output, const std::filesystem::path& input) {
    ExtractSettings settings;
    settings.inputs = {input};
    settings.output = output;
    return extract(settings);
}

}  // namespace

TEST_CASE("the documents in WikiExtractor's files are read as articles") {
    const TemporaryFolder folder;
    write_text(folder / "wiki_00", two_documents);
    PageReader reader(folder / "wiki_00");
    Page page;
    REQUIRE(reader.next(page));
    CHECK(page.title == "The \"A\" & B");
    CHECK(page.id == 12);
    CHECK(page.is_prose);
    const ExtractCounts counts = extract_to(folder / "text.txt", folder / "wiki_00");
    CHECK(read_text(folder / "text.txt") == "One is.\nTwo is.\nThree < four.\n\n");
    CHECK(counts.pages == 2);
    CHECK(counts.short_articles == 1);
}

TEST_CASE("a folder gives all files below it, in the order of their paths") {
    const TemporaryFolder folder;
    for (const char* name : {"AB/wiki_00", "AA/wiki_01", "AA/wiki_00"}) {
        std::filesystem::create_directories((folder / name).parent_path());
        write_text(folder / name, "<doc id=\"1\" url=\"\" title=\"T\">\nT\n\nIt is " + std::string(name) + " here.\n</doc>\n");
    }
    const TemporaryFolder out;
    extract_to(out / "text.txt", folder.path());
    CHECK(read_text(out / "text.txt") == "It is AA/wiki_00 here.\n\nIt is AA/wiki_01 here.\n\nIt is AB/wiki_00 here.\n\n");
}

TEST_CASE("characters that newer versions escape are decoded, and tags that they leave are removed") {
    CHECK(paragraphs_of_prose("a &lt;br /&gt; b &amp;amp; c\n\n__NOTOC__\n—\n&lt;templatestyles src=\"x\" /&gt;d") ==
          std::vector<std::string>{"a b &amp; c", "d"});
}

TEST_CASE("lines of tables, links and categories that WikiExtractor leaves are not prose") {
    CHECK(paragraphs_of_prose("One is.\n| a cell || b\n|}\n{| class=x\n! colspan=2 | Goals\n!style=\"x\"|Name\nTwo "
                              "is.\n!Player\n!Goals\nThree is.") == std::vector<std::string>{"One is.", "Two is.", "Three is."});
    CHECK(paragraphs_of_prose(
              "After the [[Second World War|war]] he went to [[Budapest]].\n[[Category:1916 births]]\n"
              "[[Kategorie:Mann]]\n[[File:A b.jpg|thumb|The tomb of the [[Marx family]]]]\nIt is [[2001: A Space Odyssey]].") ==
          std::vector<std::string>{"After the war he went to Budapest.", "It is 2001: A Space Odyssey."});
    CHECK(paragraphs_of_prose("!Kung people live here.\n\n!!! is a band.") ==
          std::vector<std::string>{"!Kung people live here.", "!!! is a band."});
    CHECK(paragraphs_of_prose("It is so! And a | b, with [sic] and [1].") ==
          std::vector<std::string>{"It is so! And a | b, with [sic] and [1]."});
}

TEST_CASE("list items that WikiExtractor marks are dropped, or kept as paragraphs") {
    const std::string text =
        "It has:\nSection::::Moons.\nBULLET::::- Io &amp; Europa\nNUMBERED::::12. Ganymede is large.\nINDENT::::Callisto\nSo it "
        "is.";
    CHECK(paragraphs_of_prose(text) == std::vector<std::string>{"It has:", "So it is."});
    CHECK(paragraphs_of_prose(text, {.keeps_lists = true}) ==
          std::vector<std::string>{"It has:", "Io & Europa", "Ganymede is large.", "Callisto", "So it is."});
}

TEST_CASE("a document that is cut short, and text outside documents, are refused with the line") {
    const TemporaryFolder folder;
    write_text(folder / "cut", two_documents.substr(0, two_documents.size() - 8));
    CHECK_THROWS_WITH(extract_to(folder / "text.txt", folder / "cut"), Catch::Contains("cut:11: cut short"));
    write_text(folder / "other", two_documents + "words\n");
    CHECK_THROWS_WITH(extract_to(folder / "text.txt", folder / "other"), Catch::Contains("other:13: expected <doc"));
    CHECK_FALSE(std::filesystem::exists(folder / "text.txt"));
}

TEST_CASE("articles are read from real WikiExtractor files") {
    NEEDS_SHARED_DATA();
    const TemporaryFolder folder;
    const ExtractCounts counts = extract_to(folder / "text.txt", shared_data() / "enwiki_wikiextractor_2021");
    CHECK(counts.pages > 10'000);
    CHECK(counts.articles > 3'000);
    CHECK(read_text(folder / "text.txt").find("<doc") == std::string::npos);
}
