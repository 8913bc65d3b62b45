#include "text/wiki/wikiextractor_prose.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "text/utf8.h"
#include "text/wiki/entities.h"
#include "text/wiki/page.h"
#include "text/wiki/wiki_links.h"
#include "text/wiki/wiki_tags.h"

namespace bertpretrain {
namespace {

/// Calls visit(line) for each line without its "\n".
template <class Visit>
void for_each_row(std::string_view text, const Visit& visit) {
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        visit(text.substr(begin, end - begin));
        begin = end + 1;
    }
}

/// Whether a line that begins with "!" is a table's header cell. A name may begin so too ("!Kung"), without attributes or other
/// cells beside it.
bool is_header_cell(std::string_view before, std::string_view line, std::string_view after) {
    const auto begins_cell = [](std::string_view text) { return text.starts_with('!') || text.starts_with('|'); };
    return line.starts_with('!') &&
           (line.starts_with("! ") || line.find('|') != std::string_view::npos || begins_cell(before) || begins_cell(after));
}

/// Returns the text without lines of tables.
std::string without_table_lines(std::string_view text) {
    std::string out;
    std::string_view before, line;
    bool is_first = true;
    const auto finish_line = [&](std::string_view after) {
        const bool is_row = line.starts_with('|') || line.starts_with("{|") || line.starts_with("{{");
        if (!is_first && !is_row && !is_header_cell(before, line, after)) out.append(line).append("\n");
        is_first = false;
    };
    for_each_row(text, [&](std::string_view next) {
        finish_line(next);
        before = std::exchange(line, next);
    });
    finish_line({});
    return out;
}

/// Returns what follows WikiExtractor's mark of a list item ("BULLET::::- "), or nullopt for a line without one.
std::optional<std::string_view> marked_item(std::string_view line) {
    for (const std::string_view mark : {"BULLET::::", "NUMBERED::::", "INDENT::::"})
        if (line.starts_with(mark)) {
            line.remove_prefix(mark.size());
            if (mark == "NUMBERED::::") line.remove_prefix(std::min(line.find_first_not_of("0123456789."), line.size()));
            if (mark == "BULLET::::" && line.starts_with('-')) line.remove_prefix(1);
            return trimmed(line);
        }
    return std::nullopt;
}

}  // namespace

std::vector<std::string> paragraphs_of_prose(std::string_view text, ProseRules rules) {
    std::string plain = without_tags(text.find('&') == std::string_view::npos ? std::string(text) : decode_entities(text));
    if (plain.find_first_of("|!") != std::string::npos) plain = without_table_lines(plain);
    if (plain.find("[[") != std::string::npos) plain = without_links(plain, common_namespaces());
    std::vector<std::string> paragraphs;
    for_each_row(plain, [&](std::string_view row) {
        if (row.starts_with("Section::::")) return;
        const std::optional<std::string_view> item = marked_item(row);
        if (item && !rules.keeps_lists) return;
        std::string line(item.value_or(row));
        if (line.find("__") != std::string::npos) drop_magic_words(line);
        std::string prose = rules.tidies ? tidy(line) : single_blanks(line);
        if (has_letter_or_digit(prose)) paragraphs.push_back(std::move(prose));
    });
    return paragraphs;
}

}  // namespace bertpretrain
