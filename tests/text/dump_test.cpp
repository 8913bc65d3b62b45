#include "packing.h"
#include "page_reader.h"

#include <algorithm>

#include "core/error.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/shared_data.h"
#include "text/wiki/namespaces.h"

using namespace bertpretrain;
using testing::bzip2;
using testing::gzip;
using testing::PageReader;
using testing::TemporaryFolder;
using testing::write_text;

namespace {

std::string page_xml(const std::string& title, const std::string& text, const std::string& more = "<ns>0</ns>") {
    return "<page><title>" + title + "</title>" + more + "<id>7</id><revision><id>9</id><contributor><id>3</id></contributor>" +
           "<model>wikitext</model><text xml:space=\"preserve\">" + text + "</text></revision></page>\n";
}

std::string dump_xml(const std::string& pages) {
    return "<mediawiki xml:lang=\"de\"><siteinfo><namespaces><namespace key=\"0\" case=\"first-letter\"/>"
           "<namespace key=\"6\">Datei</namespace><namespace key=\"14\">Kategorie</namespace></namespaces></siteinfo>\n" +
           pages + "</mediawiki>\n";
}

std::vector<Page> read_all(const std::filesystem::path& file) {
    PageReader reader(file);
    std::vector<Page> pages;
    for (Page page; reader.next(page);) pages.push_back(page);
    return pages;
}

/// The message of the DataError from reading `content`, and the number of pages read before it.
struct Failure {
    std::size_t pages = 0;
    std::string message;
};

Failure failure_of(const std::string& content) {
    const TemporaryFolder folder;
    write_text(folder / "dump.xml", content);
    Failure failure;
    try {
        PageReader reader(folder / "dump.xml");
        for (Page page; reader.next(page);) ++failure.pages;
    } catch (const DataError& error) { failure.message = error.what(); }
    CAPTURE(failure.message);
    CHECK(failure.message.find("dump.xml") != std::string::npos);
    return failure;
}

bool has(const Failure& failure, std::string_view words) {
    UNSCOPED_INFO(failure.message);
    return failure.message.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("a page is read with its title, namespace, id and text") {
    const TemporaryFolder folder;
    write_text(folder / "a.xml", dump_xml(page_xml("Caf&amp;é", "a &lt;b&gt;\nc") + page_xml("Talk:X", "d", "<ns>1</ns>")));
    const std::vector<Page> pages = read_all(folder / "a.xml");
    REQUIRE(pages.size() == 2);
    CHECK(pages[0].title == "Caf&é");
    CHECK(pages[0].id == 7);
    CHECK(pages[0].text == "a <b>\nc");
    CHECK(is_article(pages[0]));
    CHECK(pages[1].ns == 1);
    CHECK_FALSE(is_article(pages[1]));
}

TEST_CASE("redirects and pages that are not wikitext are not articles") {
    const TemporaryFolder folder;
    std::string data_page = page_xml("Data", "{}");
    data_page.replace(data_page.find("wikitext"), 8, "json");
    write_text(folder / "a.xml",
               dump_xml(page_xml("A", "x", "<ns>0</ns><redirect title=\"B\"/>") + page_xml("C", "#REDIRECT [[D]]") + data_page));
    const std::vector<Page> pages = read_all(folder / "a.xml");
    REQUIRE(pages.size() == 3);
    CHECK(pages[0].is_redirect);
    CHECK(pages[1].is_redirect);
    for (const Page& page : pages) CHECK_FALSE(is_article(page));
}

TEST_CASE("without <ns> the namespace comes from the title, in the site's own language too") {
    const TemporaryFolder folder;
    write_text(folder / "a.xml",
               dump_xml(page_xml("Kategorie:X", "a", "") + page_xml("Alien: Covenant", "b", "") + page_xml("Talk:X", "c", "")));
    const std::vector<Page> pages = read_all(folder / "a.xml");
    CHECK(pages.at(0).ns == 14);
    CHECK(pages.at(1).ns == 0);
    CHECK(pages.at(2).ns == 1);
    PageReader reader(folder / "a.xml");
    Page page;
    reader.next(page);
    CHECK(reader.namespaces().at("datei") == 6);
}

TEST_CASE("a dump's language gives its namespace aliases, with those of its variants and fallbacks") {
    const TemporaryFolder folder;
    write_text(folder / "a.xml", dump_xml(page_xml("Bild:X", "a", "") + page_xml("Imagem:X", "b", "")));
    const std::vector<Page> pages = read_all(folder / "a.xml");
    CHECK(pages.at(0).ns == 6);
    CHECK(pages.at(1).ns == 0);  // an article of a German wiki
    CHECK(namespaces_of("pt").at("imagem") == 6);
    CHECK(namespaces_of("PT-br").at("discussão") == 1);
    CHECK(namespaces_of("tt").at("рәсем") == 6);
    CHECK(namespaces_of("sr").at("слика") == 6);
    CHECK(namespaces_of("unknown") == common_namespaces());
}

TEST_CASE("of several revisions the last one counts") {
    const TemporaryFolder folder;
    std::string twice = page_xml("A", "new");
    twice.insert(twice.find("<revision>"), "<revision><text>old</text></revision>");
    write_text(folder / "a.xml", dump_xml(twice));
    CHECK(read_all(folder / "a.xml").at(0).text == "new");
}

TEST_CASE("compressed dumps read like plain ones, in one stream or many") {
    const TemporaryFolder folder;
    std::string pages;
    for (int i = 0; i < 3000; ++i) pages += page_xml("Page " + std::to_string(i), std::string(100, 'x'));
    const std::string xml = dump_xml(pages);
    const std::size_t cut = xml.size() / 3;
    write_text(folder / "a.bz2", bzip2(xml));
    write_text(folder / "b.bz2", bzip2(xml.substr(0, cut)) + bzip2("") + bzip2(xml.substr(cut)));
    write_text(folder / "c.gz", gzip(folder, xml.substr(0, cut)) + gzip(folder, xml.substr(cut)));
    for (const char* name : {"a.bz2", "b.bz2", "c.gz"}) {
        const std::vector<Page> read = read_all(folder / name);
        REQUIRE(read.size() == 3000);
        CHECK(read.back().title == "Page 2999");
    }
}

TEST_CASE("a dump in UTF-16 reads like one in UTF-8") {
    const TemporaryFolder folder;
    std::string wide = "\xFF\xFE";
    for (const char c : dump_xml(page_xml("A", "text"))) (wide += c) += '\0';
    write_text(folder / "a.xml", wide);
    CHECK(read_all(folder / "a.xml").at(0).text == "text");
}

TEST_CASE("UTF-16 of either byte order is read, surrogate pairs included, and a lone surrogate is refused") {
    const TemporaryFolder folder;
    const std::u16string xml =
        u"<mediawiki><page><title>\U0001F319</title><revision><text>\u043b</text></revision></page></mediawiki>";
    for (const bool big : {false, true}) {
        std::string wide = big ? "\xFE\xFF" : "\xFF\xFE";
        for (const char16_t unit : xml) {
            const char low = static_cast<char>(unit & 0xFF), high = static_cast<char>(unit >> 8);
            wide += big ? high : low;
            wide += big ? low : high;
        }
        write_text(folder / "a.xml", wide);
        CHECK(read_all(folder / "a.xml").at(0).title == "\U0001F319");
        CHECK(read_all(folder / "a.xml").at(0).text == "\u043b");
    }
    std::string broken = "\xFF\xFE";
    for (const char16_t unit : std::u16string(u"<mediawiki><page>\xD800x")) {
        broken += static_cast<char>(unit & 0xFF);
        broken += static_cast<char>(unit >> 8);
    }
    CHECK(has(failure_of(broken), "half a character"));
}

TEST_CASE("only the last revision of a long page history is kept in memory, and reported positions stay right") {
    std::string page = "<page><title>A</title><ns>0</ns>\n";
    for (int i = 0; i < 12; ++i) page += "<revision><text>" + std::string(1 << 20, 'a') + "</text></revision>\n";
    page += "<revision><text>last</text></revision></page>\n";
    const TemporaryFolder folder;
    write_text(folder / "a.xml", dump_xml(page_xml("Before", "x") + page + page_xml("After", "y")));
    const std::vector<Page> pages = read_all(folder / "a.xml");
    REQUIRE(pages.size() == 3);
    CHECK(pages[1].title == "A");
    CHECK(pages[1].text == "last");
    CHECK(pages[2].title == "After");
    const std::string damaged = dump_xml(page_xml("Before", "x") + page + page_xml("After", "a <> b"));
    CHECK(has(failure_of(damaged), concat("(line 17, byte ", damaged.find("<>") + 1, " of its XML), in page \"After\"")));
}

TEST_CASE("a page, a text and a header that are too large are refused") {
    CHECK(has(failure_of("<mediawiki><page><title>A</title><x>" + std::string(70 << 20, 'a')), "has a page of more than 64 MiB"));
    CHECK(has(failure_of(dump_xml(page_xml("A", std::string(9 << 20, 'a')))), "has a text of more than 8 MiB"));
    CHECK(has(failure_of("<mediawiki>" + std::string(17 << 20, ' ')), "has no <page> in its first 16 MiB"));
}

TEST_CASE("a missing file, an empty one and one of another format are refused with their name and what to do") {
    CHECK_THROWS_AS(PageReader("/nowhere/dump.xml"), DataError);
    CHECK_THROWS_AS(PageReader(std::filesystem::temp_directory_path()), DataError);
    CHECK(has(failure_of(""), "is empty"));
    CHECK(has(failure_of("<html><body/></html>"), "is not a MediaWiki dump: its outermost element is <html>"));
    CHECK(has(failure_of("Plain words.\n"), "is not a MediaWiki dump"));
    CHECK(has(failure_of("7z\xBC\xAF\x27\x1C"), "is not a MediaWiki dump"));
}

TEST_CASE("a dump that was cut short is reported after its whole pages have been read") {
    const std::string xml = dump_xml(page_xml("A", "a") + page_xml("B", "b"));
    const Failure plain = failure_of(xml.substr(0, xml.size() - 60));
    CHECK(plain.pages == 1);
    CHECK(has(plain, "cut short: its XML stops before </mediawiki> (line 3"));
    const std::string packed = bzip2(xml);
    CHECK(has(failure_of(packed.substr(0, packed.size() / 2)), "cut short: its compressed data stops in the middle, at byte"));
    const TemporaryFolder folder;
    CHECK(has(failure_of(gzip(folder, xml).substr(0, 60)), "cut short: its compressed data"));
}

TEST_CASE("several dumps in one file are read one after the other, each with its own namespaces") {
    const TemporaryFolder folder;
    const std::string german = dump_xml(page_xml("A", "x") + page_xml("Datei:B", "y", "")),
                      declared = "<?xml version=\"1.0\"?>\n";
    const std::string plain = "<mediawiki>" + page_xml("Datei:C", "z", "") + "</mediawiki>";
    for (const std::string& text : {german + plain + "\n", german + "\n \n" + declared + plain, german + "\xEF\xBB\xBF" + plain,
                                    german + std::string(600'000, '\n') + plain}) {
        write_text(folder / "a.xml", text);
        const std::vector<Page> pages = read_all(folder / "a.xml");
        REQUIRE(pages.size() == 3);
        CHECK((pages[0].title == "A" && pages[1].ns == 6 && pages[2].title == "Datei:C" && pages[2].ns == 0));
    }
    write_text(folder / "a.bz2", bzip2(german) + bzip2(plain));
    CHECK(read_all(folder / "a.bz2").size() == 3);
    write_text(folder / "a.xml", german + "<!-- after the end -->\n");
    CHECK(read_all(folder / "a.xml").size() == 2);
    const Failure cut = failure_of(german + plain.substr(0, plain.size() - 20));
    CHECK((cut.pages == 2 && has(cut, "cut short") && has(cut, "line 5")));
    CHECK(has(failure_of(german + "and more"), "line 5"));
    CHECK(has(failure_of(german + "<html></html>"), "its outermost element is <html>"));
}

TEST_CASE("pages without a <mediawiki> around them, as in a piece of a dump, are read") {
    const TemporaryFolder folder;
    const std::string pages = page_xml("A", "x") + page_xml("B", "y");
    for (const std::string& text : {pages, pages + "</mediawiki>\n", "\xEF\xBB\xBF" + pages}) {
        write_text(folder / "a.xml", text);
        CHECK(read_all(folder / "a.xml").size() == 2);
    }
    const Failure cut = failure_of(pages + page_xml("C", "z").substr(0, 60));
    CHECK((cut.pages == 2 && has(cut, "cut short")));
}

TEST_CASE("damage is reported with its position, after the whole pages before it have been read") {
    const Failure broken = failure_of(dump_xml(page_xml("A", "a") + page_xml("B", "b <oops> c")));
    CHECK(broken.pages == 1);
    CHECK(has(broken, "damaged XML: mismatched tag (line 3, byte"));
    CHECK(has(broken, "in page \"B\""));
    CHECK(has(failure_of(dump_xml(page_xml("A", "a <> b"))), "damaged XML: not well-formed"));
    const std::string invalid = dump_xml(page_xml("A", "a \xFF b"));
    CHECK(has(failure_of(invalid), concat("bytes that are not UTF-8 (line 2, byte ", invalid.find('\xFF'), " of its XML)")));
    std::string packed = bzip2(dump_xml(page_xml("A", std::string(1000, 'a'))));
    packed[packed.size() / 2] = static_cast<char>(packed[packed.size() / 2] ^ 0x55);
    CHECK(has(failure_of(packed), "damaged near byte"));
    CHECK(has(failure_of(bzip2(dump_xml("")) + "garbage"), "a bzip2 stream was expected to begin"));
}

TEST_CASE("a dump that declares entities is refused, so that their expansion cannot exhaust the memory") {
    const std::string bomb = "<!DOCTYPE m [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]>";
    CHECK(has(failure_of(bomb + dump_xml(page_xml("A", "&b;"))), "document type declaration"));
}

TEST_CASE("elements nested too deeply are refused") {
    std::string deep = "<mediawiki>";
    for (int i = 0; i < 10'000; ++i) deep += "<a>";
    CHECK(has(failure_of(deep), "nests elements deeper"));
}

TEST_CASE("real dump slices, one of them in UTF-16, give the expected pages") {
    NEEDS_SHARED_DATA();
    const auto folder = testing::shared_data() / "wiki_xml";
    const std::vector<Page> bulgarian = read_all(folder / "gensim-bgwiki-latest-pages-articles-shortened.xml.bz2");
    CHECK(bulgarian.size() == 3);
    CHECK(std::any_of(bulgarian.begin(), bulgarian.end(),
                      [](const Page& page) { return page.text.find("календар") != std::string::npos; }));
    CHECK(read_all(folder / "nwtgck-wikidump.xml").size() == 85);
    CHECK(read_all(folder / "gensim-enwiki-table-markup.xml.bz2").size() == 5);
}
