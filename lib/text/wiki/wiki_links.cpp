#include "text/wiki/wiki_links.h"

#include <algorithm>
#include <set>
#include <vector>

#include "text/utf8.h"
#include "text/wiki/namespaces.h"
#include "text/wiki/wiki_tags.h"

namespace bertpretrain {
namespace {

constexpr std::size_t longest_prefix_bytes = 80;

/// Whether the prefix looks like a language code ("de", "ceb", "zh-min-nan") and is not known to be another site's.
bool is_language(std::string_view prefix) {
    static const std::set<std::string, std::less<>> long_names = {
        "simple",  "nds-nl",   "be-x-old", "be-tarask", "zh-yue",  "zh-min-nan", "zh-classical",
        "roa-rup", "roa-tara", "map-bms",  "bat-smg",   "cbk-zam", "fiu-vro",    "tokipona"};
    static const std::set<std::string, std::less<>> other_sites = {"mw", "doi", "rfc", "tmp", "wmf"};
    const bool lower = std::all_of(prefix.begin(), prefix.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    if (lower && (prefix.size() == 2 || prefix.size() == 3)) return !other_sites.contains(prefix);
    return long_names.contains(prefix);
}

/// Whether the prefix is a sister project or its short name. The labels of such links are prose and are kept.
bool is_sister_project(std::string_view prefix) {
    static const std::set<std::string, std::less<>> names = {
        "w",           "wikt",    "wiktionary", "s",    "wikisource",  "q",       "wikiquote",  "b",
        "wikibooks",   "n",       "wikinews",   "v",    "wikiversity", "voy",     "wikivoyage", "species",
        "wikispecies", "commons", "m",          "meta", "d",           "wikidata"};
    return names.contains(lower_text(prefix));
}

/// Returns a namespace's name as the tables have it: in lower case, with single spaces, without marks of writing direction.
std::string namespace_name(std::string_view prefix) {
    std::string name;
    for (std::size_t i = 0; i < prefix.size();) {
        const char32_t c = next_code_point(prefix, i);
        const bool is_direction = c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E);
        if (is_direction) continue;
        if (c != U'_' && c != U' ') append_code_point(name, c);
        else if (!name.empty() && name.back() != ' ') name += ' ';
    }
    return lower_text(trimmed(name));
}

/// Whether the title ends in an extension, as those of files do: two to four ASCII letters or digits after a period.
bool has_extension(std::string_view title) {
    const std::string_view text = trimmed(title);
    const std::size_t period = text.rfind('.');
    if (period == std::string_view::npos || text.size() - period < 3 || text.size() - period > 5) return false;
    return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(period) + 1, text.end(),
                       [](char c) { return is_ascii_letter(c) || is_ascii_digit(c); });
}

/// Whether another language's name for files or categories leads the link. Pages that were copied from another wiki have such
/// links. Titles in this language may begin with the same word ("Guru: ..."), so the rest must look like a file or category.
/// @param is_title whether another language's name for categories is taken for the beginning of a title
/// @param is_one_line whether `rest` is
bool is_foreign_file_or_category(std::string_view name, std::string_view rest, bool is_title, bool is_one_line) {
    const std::int64_t number = file_or_category_namespace(name);
    if (number == 14) return !is_title && !rest.starts_with(' ') && is_one_line;
    constexpr std::size_t longest_title = 255;  // bytes, by MediaWiki's rules; looking further would take quadratic time
    const std::string_view title = rest.substr(0, std::min(rest.substr(0, longest_title + 1).find('|'), longest_title + 1));
    return number != 0 && title.size() <= longest_title && has_extension(title);
}

struct Target {
    bool vanishes = false;
    std::size_t shown_from = 0;  ///< where the title begins, after ':' and prefixes of sister projects
};

/// @param lines_end where the last line of `content` begins; 0: it is one line
Target classify(std::string_view content, const Namespaces& namespaces, bool is_title, std::size_t lines_end) {
    Target target;
    if (content.starts_with(':')) target.shown_from = 1;
    const bool is_plain_mention = target.shown_from == 1;  // [[:Category:Moons]] shows the name
    while (true) {
        const std::string_view rest = content.substr(target.shown_from, longest_prefix_bytes);
        const std::size_t end = rest.find_first_of(":|#");
        if (end == std::string_view::npos || rest[end] != ':') return target;
        const std::string_view prefix = trimmed(rest.substr(0, end));
        const bool blank_follows = end + 1 < rest.size() && rest[end + 1] == ' ';
        if (is_sister_project(prefix) && !blank_follows) {
            target.shown_from += end + 1;
            continue;
        }
        const std::string name = namespace_name(prefix);
        target.vanishes = !is_plain_mention && (namespaces.contains(name) || (is_language(prefix) && !blank_follows) ||
                                                is_foreign_file_or_category(name, content.substr(target.shown_from + end + 1),
                                                                            is_title, lines_end <= target.shown_from + end + 1));
        return target;
    }
}

/// Returns the text that a link without a label shows.
std::string_view shown_title(std::string_view title) {
    if (title.starts_with('#')) return title.substr(1);
    return title.substr(0, title.find('#'));
}

struct Open {
    bool is_external = false;
    std::size_t at = 0;  ///< position of its "[[" in the output
    bool holds_links = false;
};

class LinkPass {
public:
    LinkPass(std::string_view in, const Namespaces& namespaces, bool all_names_known)
        : in_(in), namespaces_(namespaces), all_names_known_(all_names_known) {
        out_.reserve(in.size());
    }

    std::string run() {
        while (position_ < in_.size()) {
            const char c = in_[position_];
            if (c == '[') open();
            else if (c == ']') close();
            else if (c == '\n') end_line();
            else copy_plain();
        }
        return std::move(out_);
    }

private:
    void copy_plain() {
        static constexpr ByteSet meaningful("[]\n");
        const std::size_t end = meaningful.find(in_, position_);
        out_.append(in_, position_, end - position_);
        position_ = end;
    }

    /// Returns the length of the URL at `from`, or 0 when there is none.
    std::size_t url_length(std::size_t from) const {
        static constexpr std::string_view protocols[] = {"http://", "https://", "//", "ftp://", "mailto:", "news:", "irc://"};
        const std::string_view rest = in_.substr(std::min(from, in_.size()));
        if (std::none_of(std::begin(protocols), std::end(protocols), [&](auto protocol) { return rest.starts_with(protocol); }))
            return 0;
        std::size_t length = 0;
        while (length < rest.size() && std::string_view(" \t\n[]<>\"|").find(rest[length]) == std::string_view::npos &&
               rest.substr(length, 2) != "''")
            ++length;
        return length;
    }

    void open() {
        if (const std::size_t url = url_length(position_ + 1); url > 0) {
            position_ += 1 + url;
            while (position_ < in_.size() && in_[position_] == ' ') ++position_;
            opened_.push_back({true, out_.size()});
        } else if (in_.substr(position_, 2) == "[[") {
            if (!opened_.empty() && !opened_.back().is_external) opened_.back().holds_links = true;
            opened_.push_back({false, out_.size()});
            out_ += "[[";
            position_ += 2;
        } else {
            out_ += in_[position_++];
        }
    }

    void close() {
        const bool is_double = in_.substr(position_, 2) == "]]";
        if (!opened_.empty() && opened_.back().is_external) {
            opened_.pop_back();
            ++position_;
        } else if (!opened_.empty() && is_double) {
            position_ += 2;
            finish(opened_.back());
            opened_.pop_back();
            skip_blanks_at_line_start(out_, in_, position_);
        } else {
            out_ += in_[position_++];
        }
    }

    /// Replaces the output from "[[" on with the text that the link shows. A label is moved only when it contains no other link,
    /// so every byte moves at most once. As in MediaWiki, a link around links is not a link, except for files, which are removed.
    void finish(const Open& link) {
        const std::string_view content = std::string_view(out_).substr(link.at + 2);
        const bool is_one_line = line_ends_.empty() || line_ends_.back() < link.at;
        const std::size_t lines_end = is_one_line ? 0 : line_ends_.back() + 1 - (link.at + 2);
        const Target target = classify(content, namespaces_, all_names_known_ && !stands_alone(link), lines_end);
        if (target.vanishes) {
            cut(link.at);
            return;
        }
        if (link.holds_links || !is_one_line) {
            if (opened_.size() > 1) opened_[opened_.size() - 2].holds_links = true;
            out_ += "]]";
            return;
        }
        const std::size_t pipe = content.rfind('|');
        const std::string_view label = pipe == std::string_view::npos ? std::string_view() : trimmed(content.substr(pipe + 1));
        const std::string_view title = shown_title(content.substr(target.shown_from, content.find('|') - target.shown_from));
        const std::string shown(label.empty() ? trimmed(title) : label);
        cut(link.at);
        out_ += shown;
    }

    void cut(std::size_t at) {
        out_.resize(at);
        while (!line_ends_.empty() && line_ends_.back() >= at) line_ends_.pop_back();
    }

    /// Whether a link that was just closed has no text beside it in its line, only other links after it, as categories have.
    /// Looks at a few characters only, so that many links take linear time.
    bool stands_alone(const Open& link) const {
        constexpr std::size_t looked_at = 80;
        const std::size_t begin = link.at - std::min(link.at, looked_at);
        const std::string_view before = std::string_view(out_).substr(begin, link.at - begin);
        const std::string_view after = in_.substr(position_, looked_at);
        const std::size_t last = before.find_last_not_of(" \t"), next = after.find_first_not_of(" \t");
        const bool begins_line = last == before.npos || before[last] == '\n';
        return begins_line && (next == after.npos || after[next] == '\n' || after.substr(next).starts_with("[["));
    }

    /// Closes external links, which end with their line. A heading on the next line closes all links.
    void end_line() {
        line_ends_.push_back(out_.size());
        out_ += in_[position_++];
        while (!opened_.empty() && opened_.back().is_external) opened_.pop_back();
        if (in_.substr(position_, 2) == "==") opened_.clear();
    }

    std::string_view in_;
    const Namespaces& namespaces_;
    bool all_names_known_;
    std::string out_;
    std::size_t position_ = 0;
    std::vector<Open> opened_;
    std::vector<std::size_t> line_ends_;  ///< positions in out_
};

std::string without_double_brackets(std::string_view in) {
    std::string out;
    out.reserve(in.size());
    static constexpr ByteSet brackets("[]");
    for (std::size_t i = 0; i < in.size();) {
        const std::size_t bracket = brackets.find(in, i);
        out.append(in, i, bracket - i);
        i = bracket;
        if (i == in.size()) break;
        if (in.substr(i, 2) == "[[" || in.substr(i, 2) == "]]") i += 2;
        else out += in[i++];
    }
    return out;
}

}  // namespace

std::string without_links(std::string_view wikitext, const Namespaces& namespaces, bool all_names_known) {
    return without_double_brackets(LinkPass(wikitext, namespaces, all_names_known).run());
}

}  // namespace bertpretrain
