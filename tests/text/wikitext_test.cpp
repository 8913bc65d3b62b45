// Whole pages: a hand-written one, hostile ones and random ones.

#include "text/wiki/wikitext.h"

#include <ctime>

#include "core/random.h"
#include "support/catch.h"

using namespace bertpretrain;

namespace {

/// Returns CPU seconds, which do not depend on the load of the machine.
double seconds_for(const std::string& wikitext) {
    const std::clock_t start = std::clock();
    prose_of(wikitext);
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

std::string repeated(std::string_view piece, std::size_t bytes) {
    std::string text;
    while (text.size() < bytes) text += piece;
    return text;
}

}  // namespace

TEST_CASE("a page with every kind of markup becomes its prose") {
    const std::string page =
        "{{Short description|x}}\n{{Infobox\n| name = {{nowrap|Moon}}\n| image = [[File:m.jpg|250px]]\n}}\n__NOTOC__\n"
        "The '''Moon''' ({{lang|la|Luna}}, ''{{lang|el|x}}'') is a [[satellite]]<ref>{{cite|a}}</ref> of [[Earth|the Earth]].\n"
        "It is 384,400&nbsp;km away.<!-- check -->\n\n== Name ==\n[[File:n.jpg|thumb|A [[caption]]]]\nSee ''[[2001: A Space "
        "Odyssey]]''.\n"
        "{| class=\"wikitable\"\n| a || b\n|}\n* a list\n[[Category:Moons]]\n[[de:Mond]]\n";
    CHECK(prose_of(page) == std::vector<std::string>{"The Moon (, ) is a satellite of the Earth. It is 384,400\u00A0km away.",
                                                     "See \"2001: A Space Odyssey\"."});
    CHECK(prose_of(page, common_namespaces(), {.tidies = true}).front() ==
          "The Moon is a satellite of the Earth. It is 384,400 km away.");
}

TEST_CASE("an empty page gives no prose") {
    CHECK(prose_of("").empty());
    CHECK(prose_of("\n\n").empty());
    CHECK(prose_of("{{a}}").empty());
}

TEST_CASE("hostile markup takes time linear in its size") {
    // Quadratic work on these 400 kB would take minutes; about 0.01 s each is usual.
    const auto piece =
        GENERATE(as<std::string>(), "{{", "[[", "{{{", "}}", "]]", "[[a|", "[[File:a|", "<ref>", "<ref ", "<div>", "</div>",
                 "<!--", "<", "</", "<nowiki>", "[http://a ", "[http://", "{|\n", "\n|}", "''", "'''", "'", "&", "&#", "__", "(",
                 ")", "( ", "<ref>{{[[", "<div><ref>", "{{''", "''}}", "=", "==\n", "[[w:", "[[:", "a.", ". ", "-{");
    CAPTURE(piece);
    CHECK(seconds_for(repeated(piece, 400'000)) < 1.0);
}

TEST_CASE("deeply nested markup that is closed again takes linear time and does not recurse") {
    const std::pair<std::string, std::string> pairs[] = {
        {"{{a|", "}}"},     {"[[a|", "]]"},       {"[[File:a|", "]]"},    {"<div>", "</div>"},
        {"{|\n", "|}\n"},   {"{{{", "}}}"},       {"[http://a ", "]"},    {"(", ")"},
        {"[[Datei:", "]]"}, {"[[Datei:", "]]\n"}, {"[[Kategorie:", "]]"}, {"[[Kategorie: ", "]]"}};
    for (const auto& [open, close] : pairs) {
        CAPTURE(open);
        CHECK(seconds_for(repeated(open, 200'000) + "word " + repeated(close, 200'000)) < 1.0);
        CHECK(seconds_for(repeated(open, 100'000) + repeated("long words ", 200'000) + repeated(close, 100'000)) < 1.0);
    }
}

TEST_CASE("a line end in a link that was removed does not divide the links after it") {
    CHECK(prose_of("One [[File:a.jpg|two\nthree]]four five six [[Kategorie:b]]seven.") ==
          std::vector<std::string>{"One four five six seven."});
}

TEST_CASE("random markup neither crashes nor leaves an empty paragraph or a line break") {
    const std::vector<std::string> pieces = {
        "{{", "}}",  "[[",   "]]",   "|",       "\n",       "<ref>",     "</ref>",  "<div>", "</div>", "<!--", "-->",
        "''", "'''", "{|\n", "\n|}", "word ",   "File:",    "&amp;",     "é",       "(",     ")",      ",",    " ",
        "=",  "*",   ":",    "[",    "http://", "<nowiki>", "</nowiki>", "__TOC__", "&#13;", "."};
    const auto seed = GENERATE(range(0, 300));
    CAPTURE(seed);
    RandomSequence random(static_cast<std::uint64_t>(seed), Purpose::sample_order, 0);
    std::string page;
    for (int i = 0; i < 200; ++i) page += pieces[random.below(static_cast<std::uint32_t>(pieces.size()))];
    for (const std::string& paragraph : prose_of(page)) {
        CHECK_FALSE(paragraph.empty());
        CHECK(paragraph.find_first_of("\n\r") == std::string::npos);
        CHECK(paragraph.find("  ") == std::string::npos);
        CHECK(paragraph.front() != ' ');
        CHECK(paragraph.back() != ' ');
    }
}
