#include "text/wiki_lines.h"

#include <algorithm>
#include <array>

#include "text/entities.h"
#include "text/utf8.h"

namespace bertpretrain {
namespace {

bool is_heading(std::string_view line) {
    const std::string_view text = trimmed(line);
    return line.starts_with('=') && text.size() > 2 && text.ends_with('=');
}

/// Judged on the line as it was written: what is layout, not prose. Braces and bars remain of tables that were never closed.
bool is_layout(std::string_view line) {
    if (std::string_view("*#;: \t|").find(line.front()) != std::string_view::npos) return true;
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

bool has_word(std::string_view text) {
    for (std::size_t i = 0; i < text.size();)
        if (is_letter_or_digit(next_code_point(text, i))) return true;
    return false;
}

std::string without_magic_words(std::string_view line) {
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
    for (std::size_t i = 0; i < line.size();) {
        if (line.substr(i, 2) == "__") {
            const std::string_view ahead = line.substr(i + 2, longest);
            const std::size_t end = ahead.find("__");
            if (end != std::string_view::npos && std::find(words.begin(), words.end(), ahead.substr(0, end)) != words.end()) {
                i += end + 4;
                continue;
            }
        }
        out += line[i++];
    }
    return out;
}

/// A run of apostrophes and what it switches; more than five are five with literal ones before, four are three with one.
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

/// l'''amour'' is l' and italics: with both kinds unpaired, a bold mark behind a one-letter word (else behind any word, else the
/// first) is an apostrophe and an italic mark. The rule is MediaWiki's.
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

std::string without_quote_marks(std::string_view line) {
    std::vector<QuoteRun> runs = quote_runs(line);
    if (runs.empty()) return std::string(line);
    settle_unpaired(line, runs);
    const bool paired = std::count_if(runs.begin(), runs.end(), [](const QuoteRun& run) { return run.italic; }) % 2 == 0;
    std::string out;
    std::size_t position = 0;
    for (const QuoteRun& run : runs) {
        out.append(line.substr(position, run.at - position)).append(run.literal, '\'');
        position = run.at + run.size;
        const bool quoted_already = (!out.empty() && out.back() == '"') || (position < line.size() && line[position] == '"');
        if (run.italic && paired && !quoted_already) out += '"';
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
            if (out.size() < 2 || out[out.size() - 2] != '.') out.pop_back();  // ". . ." keeps its blanks
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

std::vector<std::string> paragraphs_of_lines(std::string_view text) {
    std::vector<std::string> paragraphs;
    bool continues = false;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        const std::string_view line = text.substr(begin, end - begin);
        begin = end + 1;
        std::string prose;
        if (!line.empty() && !is_layout(line)) prose = tidy(decode_entities(without_quote_marks(without_magic_words(line))));
        if (!has_word(prose) || is_in_parentheses(prose)) {
            continues = false;
            continue;
        }
        if (continues) paragraphs.back().append(" ").append(prose);
        else paragraphs.push_back(std::move(prose));
        continues = true;
    }
    return paragraphs;
}

}  // namespace bertpretrain
