#include "text/wiki/wiki_lines.h"

#include <algorithm>
#include <array>

#include "text/utf8.h"
#include "text/wiki/entities.h"
#include "text/wiki/wiki_tags.h"

namespace bertpretrain {
namespace {

bool is_heading(std::string_view line) {
    const std::string_view text = trimmed(line);
    return line.starts_with('=') && text.size() > 2 && text.ends_with('=');
}

constexpr std::string_view item_marks = "*#;:";

bool is_list_item(std::string_view line) { return !line.empty() && item_marks.find(line.front()) != std::string_view::npos; }

/// Whether the original line is layout instead of prose. Lines with braces and bars come from tables that were never closed.
bool is_layout(std::string_view line) {
    if (is_list_item(line) || std::string_view(" \t|").find(line.front()) != std::string_view::npos) return true;
    if (line.starts_with("{|") || line.starts_with("{{") || line.starts_with("! ")) return true;
    const bool ends_braces = trimmed(line).ends_with('}') && line.find('{') == std::string_view::npos;
    return is_heading(line) || ends_braces;
}

bool is_in_parentheses(std::string_view text) {
    if (!text.starts_with('(') || !text.ends_with(')')) return false;
    std::size_t depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '(') ++depth;
        else if (text[i] == ')' && --depth == 0) return i + 1 == text.size();
    }
    return false;
}

/// Resolves quote marks and character references, and removes magic words. @returns a view of `line` or of `scratch`
std::string_view read_marks(std::string_view line, std::string& scratch, bool tidies) {
    static constexpr ByteSet marks("_'&");
    if (marks.find(line, 0) == line.size()) return line;
    scratch = line;
    if (line.find("__") != std::string_view::npos) drop_magic_words(scratch);
    if (line.find("''") != std::string_view::npos) scratch = without_quote_marks(scratch, tidies);
    if (line.find('&') != std::string_view::npos) scratch = decode_entities(scratch);
    return scratch;
}

/// A run of apostrophes and the styles that it toggles. Of four, the first is literal; of more than five, all but the last five.
struct QuoteRun {
    std::size_t at = 0, size = 0, literal = 0;
    bool bold = false, italic = false;
};

std::vector<QuoteRun> quote_runs(std::string_view line) {
    std::vector<QuoteRun> runs;
    for (std::size_t i = line.find("''"); i != std::string_view::npos; i = line.find("''", i)) {
        QuoteRun run;
        run.at = i;
        run.size = std::min(line.find_first_not_of('\'', i), line.size()) - i;
        run.literal = run.size == 4 ? 1 : run.size > 5 ? run.size - 5 : 0;
        run.italic = run.size == 2 || run.size >= 5;
        run.bold = run.size >= 3;
        i += run.size;
        runs.push_back(run);
    }
    return runs;
}

/// Applies MediaWiki's rule for unpaired marks: when both bold and italic marks are unpaired, one bold mark becomes an apostrophe
/// and an italic mark: the first one after a one-letter word, else after any word, else the first. Example: l'''amour''
/// is l' and italics.
void settle_unpaired(std::string_view line, std::vector<QuoteRun>& runs) {
    const auto bolds = std::count_if(runs.begin(), runs.end(), [](const QuoteRun& run) { return run.bold; });
    const auto italics = std::count_if(runs.begin(), runs.end(), [](const QuoteRun& run) { return run.italic; });
    if (bolds % 2 == 0 || italics % 2 == 0) return;
    QuoteRun* chosen = nullptr;
    int best = -1;
    for (QuoteRun& run : runs) {
        if (!run.bold || run.italic) continue;
        const std::size_t at = run.at + run.literal;
        const bool behind_word = at > 0 && line[at - 1] != ' ';
        const bool behind_letter = behind_word && at > 1 && line[at - 2] == ' ';
        const int rank = behind_letter ? 2 : behind_word ? 1 : 0;
        if (rank > best) {
            best = rank;
            chosen = &run;
        }
    }
    if (!chosen) return;
    chosen->literal += 1;
    chosen->bold = false;
    chosen->italic = true;
}

}  // namespace

void drop_magic_words(std::string& line) {
    static constexpr std::array<std::string_view, 17> words = {"NOTOC",
                                                               "FORCETOC",
                                                               "TOC",
                                                               "NOEDITSECTION",
                                                               "NEWSECTIONLINK",
                                                               "NONEWSECTIONLINK",
                                                               "NOGALLERY",
                                                               "HIDDENCAT",
                                                               "INDEX",
                                                               "NOINDEX",
                                                               "NOCC",
                                                               "NOTC",
                                                               "NOCONTENTCONVERT",
                                                               "NOTITLECONVERT",
                                                               "STATICREDIRECT",
                                                               "DISAMBIG",
                                                               "EXPECTUNUSEDCATEGORY"};
    constexpr std::size_t longest = 24;
    std::string out;
    const std::string_view in = line;
    for (std::size_t i = 0; i < in.size();) {
        if (in.substr(i, 2) == "__") {
            const std::string_view ahead = in.substr(i + 2, longest);
            const std::size_t end = ahead.find("__");
            if (end != std::string_view::npos && std::find(words.begin(), words.end(), ahead.substr(0, end)) != words.end()) {
                i += end + 4;
                continue;
            }
        }
        out += in[i++];
    }
    line = std::move(out);
}

std::string without_quote_marks(std::string_view line, bool tidies) {
    std::vector<QuoteRun> runs = quote_runs(line);
    if (runs.empty()) return std::string(line);
    settle_unpaired(line, runs);
    const bool paired = std::count_if(runs.begin(), runs.end(), [](const QuoteRun& run) { return run.italic; }) % 2 == 0;
    std::string out;
    std::size_t position = 0;
    for (const QuoteRun& run : runs) {
        out.append(line.substr(position, run.at - position)).append(run.literal, '\'');
        position = run.at + run.size;
        const bool beside_quote = (!out.empty() && out.back() == '"') || (position < line.size() && line[position] == '"');
        const bool quotes = tidies ? !beside_quote : !run.bold;
        if (run.italic && paired && quotes) out += '"';
    }
    return out.append(line.substr(position));
}

std::string tidy(std::string_view line) {
    std::string out;
    const auto ends_with = [&](char c) { return !out.empty() && out.back() == c; };
    for (std::size_t i = 0; i < line.size();) {
        const std::size_t begin = i;
        const char32_t c = next_code_point(line, i);
        const std::size_t size = i - begin;
        std::size_t after = i;
        const char32_t next = i < line.size() ? next_code_point(line, after) : U' ';
        if (is_blank(c)) {
            if (!out.empty() && !ends_with(' ') && !ends_with('(')) out += ' ';
        } else if ((c == ',' || c == ';') && ends_with('(')) {
            continue;
        } else if (c == ',' && ends_with(' ') && is_blank(next)) {
            out.pop_back();
            if (!ends_with(',')) out += ',';
        } else if (c == '.' && ends_with(' ') && is_blank(next) && !line.substr(i).starts_with(" .")) {
            if (out.size() < 2 || out[out.size() - 2] != '.') out.pop_back();  // ". . ." keeps its spaces
            out += '.';
        } else if (c == ')' && (ends_with(' ') || ends_with('('))) {
            while (ends_with(' ') || ends_with(',') || ends_with(';')) out.pop_back();
            const bool is_call = out.size() > 1 && ends_with('(') && out[out.size() - 2] != ' ';
            if (!ends_with('(') || is_call) {
                out += ')';
                continue;
            }
            out.pop_back();
            if (ends_with(' ') && !is_letter_or_digit(next)) out.pop_back();
        } else {
            out.append(line.substr(begin, size));
        }
    }
    while (ends_with(' ')) out.pop_back();
    return out;
}

std::string single_blanks(std::string_view line) {
    // Bytes that may begin something to change: a space, a dot, a control character, U+0085, U+2028 or U+2029.
    static constexpr ByteSet doubtful(
        " .\xC2\xE2\x7F\x01\x02\x03\x04\x05\x06\x07\x08\t\n\x0B\x0C\r\x0E\x0F\x10"
        "\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1A\x1B\x1C\x1D\x1E\x1F");
    std::string out;
    out.reserve(line.size());
    for (std::size_t i = 0; i < line.size();) {
        const std::size_t end = doubtful.find(line, i);
        out.append(line, i, end - i);
        i = end;
        if (i == line.size()) break;
        const std::size_t begin = i;
        const char32_t c = next_code_point(line, i);
        if (c <= 0x20 || c == 0x7F || c == 0x85 || c == 0x2028 || c == 0x2029) {
            if (!out.empty() && out.back() != ' ') out += ' ';
        } else if (c != '.' || !out.ends_with("...")) {
            out.append(line, begin, i - begin);
        }
    }
    if (out.ends_with(' ')) out.pop_back();
    return out;
}

std::vector<std::string> paragraphs_of_lines(std::string_view text, ProseRules rules) {
    std::vector<std::string> paragraphs;
    std::string scratch;
    bool continues = false;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line = text.substr(begin, end - begin);
        begin = end + 1;
        const bool is_item = rules.keeps_lists && is_list_item(line);
        if (is_item) line = trimmed(line.substr(std::min(line.find_first_not_of(item_marks), line.size())));
        std::string prose;
        if (!line.empty() && !is_layout(line)) {
            const std::string_view said = read_marks(line, scratch, rules.tidies);
            prose = rules.tidies ? tidy(said) : single_blanks(said);
        }
        if (!has_letter_or_digit(prose) || is_in_parentheses(prose)) {
            continues = false;
            continue;
        }
        if (continues && !is_item) paragraphs.back().append(" ").append(prose);
        else paragraphs.push_back(std::move(prose));
        continues = !is_item;
    }
    return paragraphs;
}

}  // namespace bertpretrain
