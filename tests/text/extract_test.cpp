#include "text/reader/extract.h"

#include <map>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "page_reader.h"
#include "reference_extractor.h"
#include "support/catch.h"
#include "support/golden.h"
#include "support/shared_data.h"
#include "text/white_space.h"
#include "text/wiki/wikitext.h"

using namespace bertpretrain;
using testing::golden_sample;
using testing::PageReader;
using testing::read_text;
using testing::real_dump;
using testing::reference_documents;
using testing::reference_output;
using testing::ReferenceDocument;
using testing::TemporaryFolder;
using testing::write_text;

namespace {

std::string article_xml(const std::string& title, const std::string& text, const std::string& ns = "0") {
    return "<page><title>" + title + "</title><ns>" + ns + "</ns><revision><text>" + text + "</text></revision></page>";
}

void write_dump(const std::filesystem::path& file, const std::string& pages) {
    write_text(file, "<mediawiki>" + pages + "</mediawiki>");
}

ExtractCounts run(std::vector<std::filesystem::path> dumps, const std::filesystem::path& output,
                  std::int64_t minimum_sentences = 1, SentenceRules rules = {}) {
    ExtractSettings settings;
    settings.inputs = std::move(dumps);
    settings.output = output;
    settings.minimum_sentences = minimum_sentences;
    settings.reading.sentences = std::move(rules);
    return extract(settings);
}

std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words(1);
    for (const char c : text) {
        const bool in_word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0;
        if (in_word) words.back() += c;
        else if (!words.back().empty()) words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

using Triples = std::set<std::string>;

Triples triples_of(std::string_view text) {
    const std::vector<std::string> words = words_of(text);
    Triples triples;
    for (std::size_t i = 0; i + 2 < words.size(); ++i) triples.insert(words[i] + " " + words[i + 1] + " " + words[i + 2]);
    return triples;
}

/// How far our articles of a dump are those of WikiExtractor's output of it.
struct Agreement {
    std::size_t articles = 0;
    double recall = 0, jaccard = 0;  ///< of distinct word triples per article
};

Agreement agreement(const std::filesystem::path& dump, const std::filesystem::path& reference) {
    const std::vector<ReferenceDocument> expected = reference_documents(read_text(reference));
    PageReader reader(dump);
    Agreement found;
    std::size_t common = 0, ours = 0, theirs = 0;
    for (Page page; reader.next(page);) {
        if (!is_article(page)) continue;
        REQUIRE(found.articles < expected.size());
        const ReferenceDocument& document = expected[found.articles++];
        CHECK(page.title == document.title);
        std::string prose;
        for (const std::string& paragraph : prose_of(page.text, reader.namespaces())) prose += paragraph + "\n";
        const Triples own = triples_of(prose), of_reference = triples_of(document.text);
        for (const std::string& triple : own) common += of_reference.count(triple);
        ours += own.size();
        theirs += of_reference.size();
    }
    CHECK(found.articles == expected.size());
    found.recall = static_cast<double>(common) / static_cast<double>(theirs);
    found.jaccard = static_cast<double>(common) / static_cast<double>(ours + theirs - common);
    return found;
}

}  // namespace

TEST_CASE("articles are written one sentence per line with an empty line after each, dumps in their order") {
    const TemporaryFolder folder;
    write_dump(folder / "a.xml", article_xml("A", "One is. Two is.\n\nThree is.") + article_xml("Talk:A", "No.", "1") +
                                     article_xml("R", "#REDIRECT [[A]]"));
    write_dump(folder / "b.xml", article_xml("B", "Four is.") + article_xml("Empty", "{{only}}"));
    const ExtractCounts counts = run({folder / "b.xml", folder / "a.xml"}, folder / "text.txt");
    CHECK(read_text(folder / "text.txt") == "Four is.\n\nOne is.\nTwo is.\nThree is.\n\n");
    CHECK(counts.pages == 5);
    CHECK(counts.articles == 2);
    CHECK(counts.redirects == 1);
    CHECK(counts.other_pages == 1);
    CHECK(counts.short_articles == 1);
    CHECK(counts.sentences == 4);
    CHECK(counts.bytes_written == read_text(folder / "text.txt").size());
    CHECK(counts.bytes_read == std::filesystem::file_size(folder / "a.xml") + std::filesystem::file_size(folder / "b.xml"));
    CHECK_FALSE(std::filesystem::exists(folder / "text.txt.partial"));
}

TEST_CASE("articles with fewer sentences than the minimum are left out") {
    const TemporaryFolder folder;
    write_dump(folder / "a.xml", article_xml("A", "One is. Two is.") + article_xml("B", "Three is."));
    CHECK(run({folder / "a.xml"}, folder / "text.txt", 2).short_articles == 1);
    CHECK(read_text(folder / "text.txt") == "One is.\nTwo is.\n\n");
}

TEST_CASE("a sentence of no-break spaces alone is none, and does not end its document") {
    const TemporaryFolder folder;
    const std::string space = "\u00a0",
                      paragraphs = "First is here. " + space + "\nSecond is! \u2003 " + space + "\n\u3000\nThird.";
    write_text(folder / "wiki", "<doc id=\"1\" url=\"u\" title=\"A\">\nA\n\n" + paragraphs + "\n</doc>\n");
    write_text(folder / "json", nlohmann::json{{"text", paragraphs}}.dump());
    write_dump(folder / "dump.xml", article_xml("A", "First is here. " + space + "\n\nSecond is! " + space + "\n\nThird."));
    for (const char* input : {"wiki", "json", "dump.xml"})
        for (const bool punkt : {false, true}) {
            CAPTURE(input, punkt);
            ExtractSettings settings;
            settings.inputs = {folder / input};
            settings.output = folder / "text";
            settings.reading.lines = "paragraphs";
            settings.reading.sentences.punkt = punkt;
            CHECK(extract(settings).sentences == 3);
            std::size_t blank = 0;
            std::istringstream lines(read_text(folder / "text"));
            for (std::string line; std::getline(lines, line);) blank += is_blank_line(line);
            CHECK(blank == 1);  // at the document's end
        }
}

TEST_CASE("sentences are split by the requested rules") {
    const TemporaryFolder folder;
    write_dump(folder / "a.xml", article_xml("A", "It is xyzzy. Two follows."));
    for (const char* name : {"sent_starters.txt", "collocations.tab", "ortho_context.tab"}) write_text(folder / name, "");
    write_text(folder / "abbrev_types.txt", "xyzzy\n");
    CHECK(run({folder / "a.xml"}, folder / "english.txt").sentences == 2);
    CHECK(run({folder / "a.xml"}, folder / "given.txt", 1, {true, folder.path()}).sentences == 1);
    CHECK(run({folder / "a.xml"}, folder / "learned.txt", 1, {true, {}}).sentences == 2);
    CHECK_THROWS_AS(run({folder / "a.xml"}, folder / "none.txt", 1, {true, folder / "missing"}), ConfigError);
    CHECK_FALSE(std::filesystem::exists(folder / "none.txt"));
}

TEST_CASE("a failed run leaves an older output unchanged and no partial file") {
    const TemporaryFolder folder;
    write_text(folder / "text.txt", "older");
    write_dump(folder / "good.xml", article_xml("A", "One is."));
    write_dump(folder / "none.xml", article_xml("Talk:A", "One is.", "1"));
    write_text(folder / "cut.xml", "<mediawiki>" + article_xml("A", "One is.") + "<page>");
    CHECK_THROWS_AS(run({folder / "none.xml"}, folder / "text.txt"), DataError);
    CHECK_THROWS_AS(run({folder / "good.xml", folder / "cut.xml"}, folder / "text.txt"), DataError);
    CHECK_THROWS_AS(run({folder / "good.xml", folder / "missing.xml"}, folder / "text.txt"), DataError);
    CHECK(read_text(folder / "text.txt") == "older");
    CHECK_FALSE(std::filesystem::exists(folder / "text.txt.partial"));
}

TEST_CASE("an output that cannot be written, or is one of the dumps, is refused before anything is changed") {
    const TemporaryFolder folder;
    write_dump(folder / "a.xml", article_xml("A", "One is."));
    const std::string before = read_text(folder / "a.xml");
    CHECK_THROWS_AS(run({folder / "a.xml"}, folder / "a.xml"), ConfigError);
    CHECK_THROWS_AS(run({folder / "a.xml"}, folder.path()), ConfigError);
    CHECK_THROWS_AS(run({folder / "a.xml"}, folder / "a.xml" / "text.txt"), ConfigError);
    CHECK_THROWS_AS(run({folder / "a.xml"}, "/dev/null"), ConfigError);
    std::filesystem::rename(folder / "a.xml", folder / "a.txt.partial");
    CHECK_THROWS_AS(run({folder / "a.txt.partial"}, folder / "a.txt"), ConfigError);
    CHECK(read_text(folder / "a.txt.partial") == before);
}

TEST_CASE("the sample encyclopaedia becomes the text that it became at first") {
    const TemporaryFolder folder;
    run({testing::golden_folder() / "sample/encyclopaedia.xml.bz2"}, folder / "text.txt");
    CHECK(read_text(folder / "text.txt") == read_text(golden_sample("text.txt")));
}

TEST_CASE("the articles of our own dump are those that WikiExtractor keeps, in its order and nearly in its words") {
    const Agreement found = agreement(testing::golden_folder() / "sample/encyclopaedia.xml.bz2",
                                      golden_sample("wikiextractor_6408a43_no_templates.txt"));
    CHECK(found.articles == 72);
    CAPTURE(found.recall, found.jaccard);  // measured: 0.998 and 0.997
    CHECK(found.recall > 0.99);
    CHECK(found.jaccard > 0.98);
}

TEST_CASE("the articles of a real dump are those that WikiExtractor keeps, in its order and nearly in its words") {
    NEEDS_SHARED_DATA();
    const Agreement found = agreement(testing::shared_data() / real_dump, testing::shared_data() / reference_output);
    CHECK(found.articles == 106);
    // What differs: formulas and code (the reference writes formula_1, codice_1), sub- and superscripts (H2O; the reference has
    // HO), lines that begin with a template that vanished (the reference drops them for the blank left at their start).
    // Measured: 0.992 and 0.978.
    CAPTURE(found.recall, found.jaccard);
    CHECK(found.recall > 0.99);
    CHECK(found.jaccard > 0.97);

    const TemporaryFolder folder;
    const std::map<std::string, std::int64_t> articles = {{"gensim-bgwiki-latest-pages-articles-shortened.xml.bz2", 1},
                                                          {"gensim-enwiki-table-markup.xml.bz2", 5},
                                                          {"nwtgck-wikidump.xml", 18}};
    for (const auto& [name, count] : articles) {
        CAPTURE(name);
        CHECK(run({testing::shared_data() / "wiki_xml" / name}, folder / "text.txt").articles == count);
        const std::string text = read_text(folder / "text.txt");
        for (const char* left : {"{|", "|}", "|-", "[[", "{{", "<ref"}) {
            CAPTURE(left);
            CHECK(text.find(left) == std::string::npos);
        }
    }
}
