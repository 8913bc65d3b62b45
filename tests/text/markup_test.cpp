// Tests each rule of wikitext separately, on the smallest text that shows it.

#include "support/catch.h"
#include "text/wiki/entities.h"
#include "text/wiki/wiki_lines.h"
#include "text/wiki/wiki_links.h"
#include "text/wiki/wiki_tags.h"
#include "text/wiki/wiki_templates.h"

using namespace bertpretrain;

namespace {

std::string links(std::string_view text) { return without_links(text, common_namespaces()); }

}  // namespace

TEST_CASE("character references are decoded once, by name and by number") {
    CHECK(decode_entities("caf&eacute; &ndash; 5&nbsp;km") == "café – 5\u00A0km");
    CHECK(decode_entities("&#8211;&#x2013;&#X2013;") == "–––");
    CHECK(decode_entities("&alpha;&Omega;&sigmaf;&Sigma;&yuml;&Agrave;") == "αΩςΣÿÀ");
    CHECK(decode_entities("&amp;lt;") == "&lt;");
    CHECK(decode_entities("&#150;") == "–");
}

TEST_CASE("text that is not a character reference stays, and invalid code points become U+FFFD") {
    CHECK(decode_entities("AT&T; &unknown; & &; &# &#; &#x; &#12a;") == "AT&T; &unknown; & &; &# &#; &#x; &#12a;");
    CHECK(decode_entities("&#0;&#xD800;&#x110000;&#9999999;") == "\uFFFD\uFFFD\uFFFD\uFFFD");
    CHECK(decode_entities("ends in &") == "ends in &");
}

TEST_CASE("comments are removed, with their line when nothing else is on it") {
    CHECK(without_tags("a<!-- b -->c") == "ac");
    CHECK(without_tags("a\n<!-- b -->\nc") == "a\nc");
    CHECK(without_tags("a <!-- never closed") == "a ");
    CHECK(without_tags("<!-- x --> Prose") == "Prose");
}

TEST_CASE("references and similar elements are removed with their content, and formulas get a placeholder") {
    CHECK(without_tags("a<ref>b</ref>c<ref name=\"d\"/>e<ref name=f>[[g]]</ref >h<REF>i</REF>j") == "acehj");
    CHECK(without_tags("where <math>x < y</math> is <ce>H2O</ce>") == "where formula_1 is formula_2");
    CHECK(without_tags("<source lang=\"html\"><!-- unclosed</source>kept") == "kept");
    CHECK(without_tags("<references><ref>a</ref></references>b") == "b");
}

TEST_CASE("dropped elements may nest, and a tag without a partner is removed alone") {
    CHECK(without_tags("a<div>b<div>c</div>d</div>e") == "ae");
    CHECK(without_tags("a<div>b<div>c</div>d") == "abd");
    CHECK(without_tags("a</div>b") == "ab");
    CHECK(without_tags("a<ref>b") == "ab");
    CHECK(without_tags("a<div>b<small>c</div>d</small>e") == "ade");
}

TEST_CASE("text elements keep their content") {
    CHECK(without_tags("H<sub>2</sub>O <span style=\"color:red\">red</span>") == "H2O red");
    CHECK(without_tags("one<br>two<br />three") == "one two three");
    CHECK(without_tags("a<p>b</p>c") == "a\nb\nc");
}

TEST_CASE("a less-than sign that does not begin a known tag is text") {
    CHECK(without_tags("a < b and c > d, <unknown> 1<2 <3 </ <>") == "a < b and c > d, <unknown> 1<2 <3 </ <>");
    CHECK(without_tags("ends in <ref") == "ends in <ref");
}

TEST_CASE("the content of nowiki is shown unchanged") {
    const std::string shown =
        without_links(without_templates(without_tags("<nowiki>[[a]] {{b}} ''c''</nowiki>")), common_namespaces());
    CHECK(decode_entities(without_quote_marks(shown)) == "[[a]] {{b}} ''c''");
    CHECK(without_tags("a<nowiki/>b") == "ab");
    CHECK(paragraphs_of_lines(without_tags("<nowiki>*</nowiki> is a star")) == std::vector<std::string>{"* is a star"});
}

TEST_CASE("templates and parameters are removed at any depth of nesting") {
    CHECK(without_templates("a{{b|{{c}}|{{{d|}}}}}e") == "ae");
    CHECK(without_templates("{{{{{a}}}}}b") == "b");
    CHECK(without_templates("{{a\n| b = {{c}}\n}}\nText") == "\nText");
    CHECK(without_templates("{{coord}} Text") == "Text");
}

TEST_CASE("braces without a partner stay") {
    CHECK(without_templates("a {b} }} c") == "a {b} }} c");
    CHECK(without_templates("{{a and {{b}} c") == "{{a and  c");
    CHECK(without_templates("{{{a}} b") == "{ b");
}

TEST_CASE("quote marks around a dropped template are removed too") {
    CHECK(without_templates("a ''{{lang|fr|chat}}'' b") == "a  b");
    CHECK(without_templates("''a'' {{b}}''c''") == "''a'' ''c''");
}

TEST_CASE("tables are removed, nested ones too, and text after them on the line stays") {
    CHECK(without_tables("a\n{| class=x\n| b\n{|\n| c\n|}\n| d\n|}\ne") == "a\n\ne");
    CHECK(without_tables(":{|\n| b\n|} e") == "e");
    CHECK(without_tables("a |} b\n|} c") == "a |} b\n|} c");
}

TEST_CASE("the rows of a table that is never closed are removed as lines") {
    CHECK(paragraphs_of_lines(without_tables("Before.\n{| class=x\n! head\n|-\n| cell\nAfter.")) ==
          std::vector<std::string>{"Before.", "After."});
}

TEST_CASE("links become their labels, joined with the letters that follow") {
    CHECK(links("[[dog]]s and [[Cat|cats]]") == "dogs and cats");
    CHECK(links("[[a|b|c]]") == "c");
    CHECK(links("[[Moon#Orbit|orbit]] [[#Orbit]] [[Moon#Orbit]]") == "orbit Orbit Moon");
    CHECK(links("[[wikt:run|run]] [[:Category:Moons]] [[w:Moon]]") == "run Category:Moons Moon");
    CHECK(links("[[Pipe trick|]]") == "Pipe trick");
}

TEST_CASE("links to files, categories and other languages are removed, with captions that contain links") {
    CHECK(links("a[[File:x.jpg|thumb|The [[Moon]] and [[Sun|the [x] Sun]].]]b") == "ab");
    CHECK(links("a[[Image:x.jpg]][[category: Moons]][[de:Mond]][[zh-min-nan:x]][[ Template talk:x]]b") == "ab");
    CHECK(links("[[File:x.jpg|a caption\nof two lines]] Text") == "Text");
    Namespaces german = common_namespaces();
    german["datei"] = 6;
    CHECK(without_links("a[[Datei:x.jpg|Bild]]b", german) == "ab");
}

TEST_CASE("links to files and categories are removed under the names and aliases of all languages") {
    for (const char* link : {"[[Imagem:lua.jpg|thumb|250px|A [[Lua]]]]", "[[Выява:месяц.jpg|злева]]", "[[Hình:trăng.jpg|nhỏ]]",
                             "[[Gambar:wulan.JPG|jmpl]]", "[[Рәсем:ай.svg|мини]]", "[[Pilt:kuu.png|pisi]]",
                             "[[Tập tin: trăng.jpeg|nhỏ]]", "[[ imagem :lua.jpg]]", "[[\u200Eचित्र:चंद्र.jpg|thumb]]",
                             "[[Thể_loại:Vệ tinh]]", "[[Kategooria:Kuu]]", "[[Төркем:Ай]]"}) {
        CAPTURE(link);
        CHECK(links("a" + std::string(link) + "b") == "ab");
    }
    CHECK(links("[[:Imagem:lua.jpg]]") == "Imagem:lua.jpg");
}

TEST_CASE("a title that begins with another language's word for files stays, unless it looks like a file") {
    CHECK(links("[[Guru: The Film|a film]] and [[Class: Action]]") == "a film and Class: Action");
    CHECK(links("[[Figura: forma]] [[Fil:.]]") == "Figura: forma Fil:.");
}

TEST_CASE("titles with a colon keep their words") {
    CHECK(links("[[2001: A Space Odyssey]]") == "2001: A Space Odyssey");
    CHECK(links("[[Mission: Impossible|the film]]") == "the film");
    CHECK(links("[[Alien: Covenant]] [[CSI: Miami]] [[it: a book]]") == "Alien: Covenant CSI: Miami it: a book");
}

TEST_CASE("external links keep their label, and without a label they are removed") {
    CHECK(links("[https://a.org the label] [//b.org x] [mailto:c@d e]") == "the label x e");
    CHECK(links("a[http://a.org]b") == "ab");
    CHECK(links("[http://a.org see [[Moon|the Moon]]].") == "see the Moon.");
    CHECK(links("[sic] [1] ] [") == "[sic] [1] ] [");
    CHECK(links("[http://a.org unclosed\nnext] line") == "unclosed\nnext] line");
}

TEST_CASE("brackets without a partner are removed, and their text stays") {
    CHECK(links("[[a b") == "a b");
    CHECK(links("a]] b") == "a b");
    CHECK(links("[[never closed\n== H ==\n[[File:x.jpg]]prose]] more") == "never closed\n== H ==\nprose more");
    CHECK(links("[[a\nparagraph|with a bar]]") == "a\nparagraph|with a bar");
}

TEST_CASE("bold marks are removed, and italic marks become quotation marks") {
    CHECK(without_quote_marks("'''Moon''' and ''Luna''") == "Moon and \"Luna\"");
    CHECK(without_quote_marks("'''''both''''' don't") == "both don't");
    CHECK(without_quote_marks("'''''both''''' don't", true) == "\"both\" don't");
    CHECK(without_quote_marks("an ''unpaired mark") == "an unpaired mark");
    CHECK(without_quote_marks("\"''quoted''\"") == "\"\"quoted\"\"");
    CHECK(without_quote_marks("\"''quoted''\"", true) == "\"quoted\"");
    CHECK(without_quote_marks("l'''amour''") == "l'\"amour\"");
}

TEST_CASE("headings, lists, preformatted lines and remains of layout are removed") {
    CHECK(paragraphs_of_lines("== Title ==\n* a\n# b\n; c\n: d\n e\n| f\n{{g\nh}}\n(i)\n-- . --\n—\n=Title=\n").empty());
    CHECK(paragraphs_of_lines("(a) is not (b)") == std::vector<std::string>{"(a) is not (b)"});
    CHECK(paragraphs_of_lines("the set {a, b}") == std::vector<std::string>{"the set {a, b}"});
}

TEST_CASE("list items are dropped, or kept as paragraphs of their own") {
    const std::string_view text =
        "It has:\n* Io, '''a moon'''\n*# Europa. It is small.\n; Ganymede\n: is large\n*\n* | x\n goes\nSo it\nis.";
    CHECK(paragraphs_of_lines(text) == std::vector<std::string>{"It has:", "So it is."});
    CHECK(paragraphs_of_lines(text, {.keeps_lists = true}) ==
          std::vector<std::string>{"It has:", "Io, a moon", "Europa. It is small.", "Ganymede", "is large", "So it is."});
}

TEST_CASE("consecutive lines are one paragraph, which an empty or dropped line ends") {
    CHECK(paragraphs_of_lines("a\nb\n\nc\n* x\nd") == std::vector<std::string>{"a b", "c", "d"});
}

TEST_CASE("magic words are removed, and words that look like them stay") {
    CHECK(paragraphs_of_lines("__NOTOC__Text __TOC__ of __init__") == std::vector<std::string>{"Text of __init__"});
}

TEST_CASE("white space, line separators and control characters are collapsed, and dots to at most three in a row") {
    CHECK(single_blanks("  a \t b\u2028\u0085\x01 c\u00A0\u2003d  ") == "a b c\u00A0\u2003d");
    CHECK(single_blanks("so ..... it. . . is...") == "so ... it. . . is...");
    CHECK(single_blanks("Foo (, born 1950) is , ().") == "Foo (, born 1950) is , ().");
    CHECK(single_blanks(" \t") == "");
}

TEST_CASE("tidying turns all blanks into spaces and removes leftovers of dropped markup") {
    CHECK(paragraphs_of_lines("A (, b)\u00A0c", {.tidies = true}) == std::vector<std::string>{"A (b) c"});
    CHECK(paragraphs_of_lines("A (, b)\u00A0c") == std::vector<std::string>{"A (, b)\u00A0c"});
    CHECK(tidy("  a \t b\u00A0\u2003c  ") == "a b c");
    CHECK(tidy("Foo (, born 1950) is") == "Foo (born 1950) is");
    CHECK(tidy("Foo ( ; ) is (, ), so. ( ) Bar ()") == "Foo is, so. Bar");
    CHECK(tidy("Foo (Greek: x, ) is") == "Foo (Greek: x) is");
    CHECK(tidy("the Greek , i.e. x , , y .") == "the Greek, i.e. x, y.");
    CHECK(tidy("printf() and f(1,) and .NET and wait . . . what") == "printf() and f(1,) and .NET and wait . . . what");
}
