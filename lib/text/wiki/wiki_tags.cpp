#include "text/wiki/wiki_tags.h"

#include <array>
#include <limits>
#include <vector>

#include "core/error.h"
#include "text/utf8.h"
#include "text/wiki/entities.h"
#include "text/wiki/wiki_elements.h"

namespace bertpretrain {
namespace {

using Place = std::uint32_t;  // half the size of std::size_t, because a page may consist only of tags

struct Tag {
    Place begin = 0, end = 0;  ///< from '<' to after '>'
    Element element;           ///< of kind unknown when there is no tag
    bool is_closing = false;
    bool is_alone = false;  ///< self-closing: <br/>
    bool is_there() const { return element.kind != ElementKind::unknown; }
};

/// Returns the tag that begins with the '<' at `begin`. Looks no further than the next '<', so scanning a page takes linear time.
Tag tag_at(std::string_view text, std::size_t begin) {
    Tag tag;
    std::size_t i = begin + 1;
    tag.is_closing = i < text.size() && text[i] == '/';
    if (tag.is_closing) ++i;
    std::array<char, 16> name{};  // longer than any element's name
    std::size_t length = 0;
    while (i < text.size() && length < name.size() && (is_ascii_letter(text[i]) || (length > 0 && is_ascii_digit(text[i]))))
        name[length++] = ascii_lower(text[i++]);
    if (length == 0 || i == text.size()) return tag;
    if (text[i] != '>' && text[i] != '/' && text[i] != ' ' && text[i] != '\t' && text[i] != '\n') return tag;
    const Element element = element_named({name.data(), length});
    if (element.kind == ElementKind::unknown) return tag;
    static constexpr ByteSet angles("<>");
    const std::size_t end = angles.find(text, i);
    if (end == text.size() || text[end] == '<') return tag;
    tag.begin = static_cast<Place>(begin);
    tag.end = static_cast<Place>(end + 1);
    tag.is_alone = text[end - 1] == '/';
    tag.element = element;
    return tag;
}

/// Finds closing tags from left to right. Remembers which elements have no more of them, so that thousands of unclosed <ref> do
/// not each search the whole page.
class ClosingTagFinder {
public:
    explicit ClosingTagFinder(std::string_view text) : text_(text) {}

    /// Returns the first closing tag of `element` at or after `from`, or a tag for which is_there() is false.
    Tag find(const Element& element, std::size_t from) {
        Tag& known = found_[element.id];
        if (known.is_there() && known.begin >= from) return known;
        if (is_exhausted_[element.id]) return {};
        for (std::size_t i = text_.find("</", from); i != std::string_view::npos; i = text_.find("</", i + 2)) {
            const Tag tag = tag_at(text_, i);
            if (tag.is_there() && tag.element.id == element.id) return known = tag;
        }
        is_exhausted_[element.id] = true;
        return known = {};
    }

private:
    std::string_view text_;
    std::array<Tag, element_count> found_{};
    std::array<bool, element_count> is_exhausted_{};
};

/// Returns the position after the comment at `begin`. If it has a line to itself, skips the line's end too, as MediaWiki does.
std::size_t behind_comment(const std::string& out, std::string_view in, std::size_t begin) {
    const std::size_t close = in.find("-->", begin + 4);
    if (close == std::string_view::npos) return in.size();
    std::size_t position = close + 3;
    skip_blanks_at_line_start(out, in, position);
    const bool had_the_line = (out.empty() || out.back() == '\n') && position < in.size() && in[position] == '\n';
    return had_the_line ? position + 1 : position;
}

/// Removes comments and opaque elements in one pass, because either may contain marks of the other.
std::string without_opaque_elements(std::string_view in) {
    ClosingTagFinder closing(in);
    std::string out;
    out.reserve(in.size());
    std::size_t formulas = 0;
    for (std::size_t i = 0; i < in.size();) {
        const std::size_t angle = std::min(in.find('<', i), in.size());
        out.append(in, i, angle - i);
        i = angle;
        if (i == in.size()) break;
        if (in.substr(i, 4) == "<!--") {
            i = behind_comment(out, in, i);
            continue;
        }
        const Tag tag = tag_at(in, i);
        if (tag.element.kind != ElementKind::opaque) {
            out += in[i++];
            continue;
        }
        const Tag close = tag.is_closing || tag.is_alone ? Tag{} : closing.find(tag.element, tag.end);
        if (close.is_there() && tag.element.is_nowiki) out += protect_markup(in.substr(tag.end, close.begin - tag.end));
        if (close.is_there() && tag.element.is_formula) out += concat("formula_", ++formulas);
        i = close.is_there() ? close.end : tag.end;
        skip_blanks_at_line_start(out, in, i);
    }
    return out;
}

/// All tags of the other elements, in order. partner[i] is the index of opening tag i's closing tag, or i when there is none.
struct TagList {
    std::vector<Tag> tags;
    std::vector<Place> partner;
};

TagList list_tags(std::string_view in) {
    TagList list;
    std::array<std::vector<Place>, element_count> open;
    for (std::size_t i = in.find('<'); i != std::string_view::npos; i = in.find('<', i)) {
        const Tag tag = tag_at(in, i);
        const bool drops = tag.element.kind == ElementKind::dropped;
        if (!drops && tag.element.kind != ElementKind::kept) {
            ++i;
            continue;
        }
        i = tag.end;
        const auto index = static_cast<Place>(list.tags.size());
        list.partner.push_back(index);
        if (drops && !tag.is_alone) {
            auto& waiting = open[tag.element.id];
            if (!tag.is_closing) {
                waiting.push_back(index);
            } else if (!waiting.empty()) {
                list.partner[waiting.back()] = index;
                waiting.pop_back();
            }
        }
        list.tags.push_back(tag);
    }
    return list;
}

}  // namespace

void skip_blanks_at_line_start(const std::string& out, std::string_view in, std::size_t& position) {
    if (!out.empty() && out.back() != '\n') return;
    while (position < in.size() && (in[position] == ' ' || in[position] == '\t')) ++position;
}

std::string without_tags(std::string_view wikitext) {
    check(wikitext.size() < std::numeric_limits<Place>::max() / 8, "a page must be smaller than 512 MiB");
    const std::string in = without_opaque_elements(wikitext);
    const TagList list = list_tags(in);
    std::string out;
    out.reserve(in.size());
    std::size_t position = 0;
    for (std::size_t i = 0; i < list.tags.size(); i = list.partner[i] + std::size_t{1}) {
        const Tag& tag = list.tags[i];
        out.append(in, position, tag.begin - position);
        position = list.tags[list.partner[i]].end;
        if (tag.element.ends_line) out += '\n';
        else if (tag.element.is_break) out += ' ';
        skip_blanks_at_line_start(out, in, position);
    }
    return out.append(in, position, std::string::npos);
}

}  // namespace bertpretrain
