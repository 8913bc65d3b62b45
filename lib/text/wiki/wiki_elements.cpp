#include "text/wiki/wiki_elements.h"

#include <unordered_map>

#include "core/error.h"

namespace bertpretrain {
namespace {

using Elements = std::unordered_map<std::string_view, Element>;

constexpr std::string_view opaque_names[] = {
    "nowiki",     "pre",          "math",           "chem",     "ce",           "source",   "syntaxhighlight", "ref",
    "references", "gallery",      "timeline",       "score",    "graph",        "mapframe", "maplink",         "hiero",
    "imagemap",   "templatedata", "templatestyles", "inputbox", "categorytree", "quiz",     "indicator",       "charinsert",
    "rss",        "section"};

constexpr std::string_view dropped_names[] = {
    "noinclude", "includeonly", "table", "tr", "td", "th", "caption", "div", "form", "input", "select", "option", "textarea",
    "ul",        "ol",          "li",    "dl", "dt", "dd", "menu",    "dir", "img",  "small", "style",  "script"};

constexpr std::string_view kept_names[] = {
    "a",     "abbr",  "acronym", "b",    "bdi", "bdo",  "big",  "blockquote", "br",          "center",   "cite",
    "code",  "data",  "del",     "dfn",  "em",  "font", "h1",   "h2",         "h3",          "h4",       "h5",
    "h6",    "hr",    "i",       "ins",  "kbd", "mark", "nobr", "p",          "poem",        "q",        "rb",
    "rp",    "rt",    "rtc",     "ruby", "s",   "samp", "span", "strike",     "strong",      "sub",      "sup",
    "thead", "tbody", "tfoot",   "time", "tt",  "u",    "var",  "wbr",        "onlyinclude", "colgroup", "col"};

constexpr std::string_view line_ending_names[] = {"p", "blockquote", "center", "poem", "hr", "h1", "h2", "h3", "h4", "h5", "h6"};

Elements make_elements() {
    Elements elements;
    const auto add = [&](std::string_view name, ElementKind kind) {
        check(elements.size() < element_count, "there are more elements than element_count");
        const auto id = static_cast<std::uint8_t>(elements.size());
        elements[name] = {kind, id, false, false, name == "nowiki", name == "br"};
    };
    for (const std::string_view name : opaque_names) add(name, ElementKind::opaque);
    for (const std::string_view name : dropped_names) add(name, ElementKind::dropped);
    for (const std::string_view name : kept_names) add(name, ElementKind::kept);
    for (const std::string_view name : line_ending_names) elements[name].ends_line = true;
    for (const std::string_view name : {"math", "chem", "ce"}) elements[name].is_formula = true;
    return elements;
}

}  // namespace

Element element_named(std::string_view name) {
    static const Elements elements = make_elements();
    const auto found = elements.find(name);
    return found == elements.end() ? Element{} : found->second;
}

}  // namespace bertpretrain
