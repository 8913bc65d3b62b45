#include "text/wiki_tags.h"

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "text/entities.h"
#include "text/utf8.h"

namespace bertpretrain {
namespace {

using NameSet = std::set<std::string, std::less<>>;

/// MediaWiki reads nothing inside of these as markup: the first closing tag ends them, whatever stands before it.
const NameSet& opaque_elements() {
    static const NameSet names = {
        "nowiki",     "pre",          "math",           "chem",     "ce",           "source",   "syntaxhighlight", "ref",
        "references", "gallery",      "timeline",       "score",    "graph",        "mapframe", "maplink",         "hiero",
        "imagemap",   "templatedata", "templatestyles", "inputbox", "categorytree", "quiz",     "indicator",       "charinsert",
        "rss",        "section"};
    return names;
}

/// May nest; vanish with their content.
const NameSet& dropped_elements() {
    static const NameSet names = {"noinclude", "includeonly", "table",  "tr",       "td",    "th",    "caption", "div", "form",
                                  "input",     "select",      "option", "textarea", "ul",    "ol",    "li",      "dl",  "dt",
                                  "dd",        "menu",        "dir",    "img",      "small", "style", "script"};
    return names;
}

/// Only their tags vanish.
const NameSet& kept_elements() {
    static const NameSet names = {
        "a",     "abbr",  "acronym", "b",    "bdi", "bdo",  "big",  "blockquote", "br",          "center",   "cite",
        "code",  "data",  "del",     "dfn",  "em",  "font", "h1",   "h2",         "h3",          "h4",       "h5",
        "h6",    "hr",    "i",       "ins",  "kbd", "mark", "nobr", "p",          "poem",        "q",        "rb",
        "rp",    "rt",    "rtc",     "ruby", "s",   "samp", "span", "strike",     "strong",      "sub",      "sup",
        "thead", "tbody", "tfoot",   "time", "tt",  "u",    "var",  "wbr",        "onlyinclude", "colgroup", "col"};
    return names;
}

bool ends_a_line(std::string_view name) {
    return name == "p" || name == "blockquote" || name == "center" || name == "poem" || name == "hr" ||
           (name.size() == 2 && name[0] == 'h' && is_ascii_digit(name[1]));
}

struct Tag {
    std::size_t begin = 0, end = 0;  ///< from '<' to behind '>'
    std::string name;                ///< in lower case; empty: no tag begins here
    bool is_closing = false;
    bool is_alone = false;  ///< <br/>
};

/// The tag that begins at `begin`, where a '<' stands. Looks no further than the next '<', so scanning a page stays linear.
Tag tag_at(std::string_view text, std::size_t begin) {
    Tag tag;
    std::size_t i = begin + 1;
    tag.is_closing = i < text.size() && text[i] == '/';
    if (tag.is_closing) ++i;
    std::string name;
    while (i < text.size() && (is_ascii_letter(text[i]) || (!name.empty() && is_ascii_digit(text[i]))))
        name += ascii_lower(text[i++]);
    if (name.empty() || i == text.size()) return tag;
    if (text[i] != '>' && text[i] != '/' && text[i] != ' ' && text[i] != '\t' && text[i] != '\n') return tag;
    const std::size_t end = text.find_first_of("<>", i);
    if (end == std::string_view::npos || text[end] == '<') return tag;
    tag.begin = begin;
    tag.end = end + 1;
    tag.is_alone = text[end - 1] == '/';
    tag.name = std::move(name);
    return tag;
}

/// Finds closing tags from left to right; remembers which names have no more of them, so that thousands of unclosed <ref> do not
/// each search the whole page.
class ClosingTagFinder {
public:
    explicit ClosingTagFinder(std::string_view text) : text_(text) {}

    /// The first closing tag of `name` at or behind `from`; a tag without a name when there is none.
    Tag find(const std::string& name, std::size_t from) {
        Tag& known = found_[name];
        if (!known.name.empty() && known.begin >= from) return known;
        if (is_exhausted_[name]) return {};
        for (std::size_t i = text_.find("</", from); i != std::string_view::npos; i = text_.find("</", i + 2)) {
            Tag tag = tag_at(text_, i);
            if (tag.name == name) return known = tag;
        }
        is_exhausted_[name] = true;
        return known = {};
    }

private:
    std::string_view text_;
    std::map<std::string, Tag> found_;
    std::map<std::string, bool> is_exhausted_;
};

/// Moves behind a comment; one that had a line to itself takes the line's end along, as in MediaWiki.
std::size_t behind_comment(const std::string& out, std::string_view in, std::size_t begin) {
    const std::size_t close = in.find("-->", begin + 4);
    if (close == std::string_view::npos) return in.size();
    std::size_t position = close + 3;
    skip_blanks_at_line_start(out, in, position);
    const bool had_the_line = (out.empty() || out.back() == '\n') && position < in.size() && in[position] == '\n';
    return had_the_line ? position + 1 : position;
}

/// Comments and opaque elements, in their order: each hides the other's marks.
std::string without_opaque_elements(std::string_view in) {
    ClosingTagFinder closing(in);
    std::string out;
    out.reserve(in.size());
    for (std::size_t i = 0; i < in.size();) {
        if (in[i] != '<') {
            out += in[i++];
            continue;
        }
        if (in.substr(i, 4) == "<!--") {
            i = behind_comment(out, in, i);
            continue;
        }
        const Tag tag = tag_at(in, i);
        if (tag.name.empty() || !opaque_elements().contains(tag.name)) {
            out += in[i++];
            continue;
        }
        const Tag close = tag.is_closing || tag.is_alone ? Tag{} : closing.find(tag.name, tag.end);
        if (tag.name == "nowiki" && !close.name.empty()) out += protect_markup(in.substr(tag.end, close.begin - tag.end));
        i = close.name.empty() ? tag.end : close.end;
        skip_blanks_at_line_start(out, in, i);
    }
    return out;
}

/// All tags of the other elements in their order; `partner` of an opening tag: the index of its closing one, or its own.
struct TagList {
    std::vector<Tag> tags;
    std::vector<std::size_t> partner;
};

TagList list_tags(std::string_view in) {
    TagList list;
    std::unordered_map<std::string, std::vector<std::size_t>> open;
    for (std::size_t i = in.find('<'); i != std::string_view::npos; i = in.find('<', i)) {
        Tag tag = tag_at(in, i);
        const bool drops = dropped_elements().contains(tag.name);
        if (!drops && !kept_elements().contains(tag.name)) {
            ++i;
            continue;
        }
        i = tag.end;
        const std::size_t index = list.tags.size();
        list.partner.push_back(index);
        if (drops && !tag.is_alone) {
            auto& waiting = open[tag.name];
            if (!tag.is_closing) {
                waiting.push_back(index);
            } else if (!waiting.empty()) {
                list.partner[waiting.back()] = index;
                waiting.pop_back();
            }
        }
        list.tags.push_back(std::move(tag));
    }
    return list;
}

}  // namespace

void skip_blanks_at_line_start(const std::string& out, std::string_view in, std::size_t& position) {
    if (!out.empty() && out.back() != '\n') return;
    while (position < in.size() && (in[position] == ' ' || in[position] == '\t')) ++position;
}

std::string without_tags(std::string_view wikitext) {
    const std::string in = without_opaque_elements(wikitext);
    const TagList list = list_tags(in);
    std::string out;
    out.reserve(in.size());
    std::size_t position = 0;
    for (std::size_t i = 0; i < list.tags.size(); i = list.partner[i] + 1) {
        const Tag& tag = list.tags[i];
        out.append(in, position, tag.begin - position);
        position = list.tags[list.partner[i]].end;
        if (ends_a_line(tag.name)) out += '\n';
        else if (tag.name == "br") out += ' ';
        skip_blanks_at_line_start(out, in, position);
    }
    return out.append(in, position, std::string::npos);
}

}  // namespace bertpretrain
