#include "text/wiki/wiki_templates.h"

#include <algorithm>
#include <vector>

#include "text/utf8.h"
#include "text/wiki/wiki_tags.h"

namespace bertpretrain {
namespace {

std::size_t run_length(std::string_view text, std::size_t position, char c) {
    const std::size_t end = text.find_first_not_of(c, position);
    return (end == std::string_view::npos ? text.size() : end) - position;
}

/// Removes a pair of quote marks around a dropped template. ''{{lang|fr|chat}}'' would otherwise leave four apostrophes, which
/// mean something else.
void drop_quotes_around(std::string& out, std::string_view in, std::size_t& position) {
    constexpr std::size_t longest = 6;  // one more than the longest mark; bounds the search
    std::size_t before = 0, behind = 0;
    while (before < longest && before < out.size() && out[out.size() - 1 - before] == '\'') ++before;
    while (behind < longest && position + behind < in.size() && in[position + behind] == '\'') ++behind;
    if (before != behind || (before != 2 && before != 3 && before != 5)) return;
    out.resize(out.size() - before);
    position += behind;
}

struct OpenBraces {
    std::size_t at;     ///< where the run of braces begins in the output
    std::size_t count;  ///< number of braces without a partner so far
};

/// Removes what a run of `count` closing braces after the output completes. As in MediaWiki, three braces pair before two.
/// @returns the number of closing braces used
std::size_t close_braces(std::string& out, std::vector<OpenBraces>& open, std::size_t count) {
    std::size_t used = 0;
    while (!open.empty() && count - used >= 2) {
        const std::size_t pairs = std::min({open.back().count, count - used, std::size_t{3}});
        open.back().count -= pairs;
        out.resize(open.back().at + open.back().count);
        used += pairs;
        if (open.back().count < 2) open.pop_back();
    }
    return used;
}

}  // namespace

std::string without_templates(std::string_view in) {
    std::string out;
    out.reserve(in.size());
    std::vector<OpenBraces> open;
    static constexpr ByteSet braces("{}");
    for (std::size_t i = 0; i < in.size();) {
        const std::size_t brace = braces.find(in, i);
        out.append(in, i, brace - i);
        i = brace;
        if (i == in.size()) break;
        if (in[i] == '{') {
            const std::size_t count = run_length(in, i, '{');
            if (count >= 2) open.push_back({out.size(), count});
            out.append(count, '{');
            i += count;
        } else {
            const std::size_t count = run_length(in, i, '}');
            const std::size_t used = close_braces(out, open, count);
            out.append(count - used, '}');
            i += count;
            if (used == 0 || used < count) continue;
            if (open.empty()) drop_quotes_around(out, in, i);
            skip_blanks_at_line_start(out, in, i);
        }
    }
    return out;
}

std::string without_tables(std::string_view in) {
    std::string out;
    out.reserve(in.size());
    std::vector<std::size_t> open;
    for (std::size_t begin = 0; begin < in.size();) {
        const std::size_t line_end = in.find('\n', begin);
        const std::size_t next = line_end == std::string_view::npos ? in.size() : line_end + 1;
        std::string_view line = in.substr(begin, next - begin);
        const std::string_view start = line.substr(std::min(line.find_first_not_of(" \t:"), line.size()));
        if (start.starts_with("{|")) {
            open.push_back(out.size());
        } else if (start.starts_with("|}") && !open.empty()) {
            out.resize(open.back());
            open.pop_back();
            line = start.substr(2);
            while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
        }
        out += line;
        begin = next;
    }
    return out;
}

}  // namespace bertpretrain
