#include "text/sentences/sentences.h"

#include <algorithm>

#include "text/sentences/sentence_stops.h"
#include "text/utf8.h"

namespace bertpretrain {
namespace {

bool is_opening(char32_t c) {
    return std::u32string_view(U"\"'([{\u2018\u201C\u201E\u201A\u00AB\u2039\u00BF\u00A1").find(c) != std::u32string_view::npos;
}

bool is_narrow_stop(char32_t c) { return c == '.' || c == '?' || c == '!'; }

std::string_view without_opening(std::string_view token) {
    for (std::size_t i = 0; i < token.size(); token.remove_prefix(i), i = 0)
        if (!is_opening(next_code_point(token, i))) return token;
    return token;
}

/// A run of stops that may end a sentence, and the words around it.
struct Candidate {
    std::string_view before;  ///< the word before the stops, without opening quotation marks and brackets
    std::string_view stops;
    std::string_view next;        ///< the next word, without opening quotation marks and brackets
    bool next_is_opened = false;  ///< an opening quotation mark or bracket precedes `next`
    bool is_closed = false;       ///< a closing quotation mark or bracket follows the stops
    bool at_start = false;        ///< `before` is the paragraph's first word
};

/// Returns the last part of a compound such as "Anglo-Amer", which may be a known abbreviation.
std::string_view last_part(std::string_view word) {
    const std::size_t dash = word.find_last_of("-/");
    return dash == std::string_view::npos ? word : word.substr(dash + 1);
}

bool is_initial(std::string_view word) {
    std::size_t i = 0;
    return !word.empty() && is_upper_letter(next_code_point(word, i)) && i == word.size();
}

/// Whether the word consists of short groups of letters with periods between them: "U.S", "e.g", "Ph.D".
bool has_inner_periods(std::string_view word) {
    constexpr std::size_t longest_group = 2;
    std::size_t group = 0, periods = 0;
    for (std::size_t i = 0; i < word.size();) {
        const char32_t c = next_code_point(word, i);
        if (c == '.') {
            if (group == 0 || group > longest_group) return false;
            ++periods;
            group = 0;
        } else if (is_upper_letter(c) || is_lower_letter(c)) {
            ++group;
        } else {
            return false;
        }
    }
    return periods > 0 && group > 0 && group <= longest_group;
}

bool is_number(std::string_view word) { return !word.empty() && std::all_of(word.begin(), word.end(), is_ascii_digit); }

/// Whether the word begins with a numeral such as "12" or "IV".
bool is_numeral(std::string_view word) {
    const std::size_t end = std::min(word.find_first_not_of("IVXLC"), word.size());
    return !word.empty() && (is_ascii_digit(word[0]) || (end > 0 && (end == word.size() || !is_ascii_letter(word[end]))));
}

bool begins_sentence(std::string_view word, const SentenceParameters& parameters) {
    std::size_t end = 0;
    while (end < word.size() && is_ascii_letter(word[end])) ++end;
    if (end < word.size() && word[end] == '.') return false;  // the "A" in "A. Smith" is not an article
    return parameters.sentence_starters.contains(lower_text(word.substr(0, end)));
}

bool ends_sentence(const Candidate& at, const SentenceParameters& parameters) {
    std::size_t i = 0;
    const char32_t first = at.next.empty() ? U'A' : next_code_point(at.next, i);
    if (is_lower_letter(first) || std::u32string_view(U",;:.!?").find(first) != std::u32string_view::npos) return false;
    if (at.stops != "." && at.stops.find_first_not_of('.') != std::string_view::npos)
        return true;  // a question or an exclamation
    const bool starts = is_upper_letter(first) && begins_sentence(at.next, parameters);
    if (at.stops.size() > 1) return starts || at.next_is_opened;  // an ellipsis
    if (is_number(at.before)) return !at.at_start;                // "1. Nouns" is a numbered line
    const std::string word = lower_text(last_part(at.before));
    if (parameters.titles.contains(word) && !at.is_closed) return false;
    if (parameters.numbered.contains(word) && is_numeral(at.next)) return false;
    const bool shortened =
        parameters.abbreviations.contains(word) || is_initial(last_part(at.before)) || has_inner_periods(at.before);
    return !shortened || starts;
}

}  // namespace

const SentenceParameters& SentenceParameters::english() {
    static const SentenceParameters english = {
        // Words that are written with a period and may end a sentence. Leaves out words that exist without one (ill, mass, sat).
        {"etc",   "al",   "jr",   "sr",   "esq",   "inc",  "ltd",  "corp", "co",   "bros", "plc", "llc",   "assn",   "dept",
         "univ",  "ave",  "blvd", "rd",   "sq",    "ft",   "lb",   "lbs",  "oz",   "hrs",  "hr",  "mi",    "yd",     "jan",
         "feb",   "mar",  "apr",  "jun",  "jul",   "aug",  "sep",  "sept", "oct",  "nov",  "dec", "tue",   "thu",    "fri",
         "ph.d",  "b.c",  "a.d",  "u.s",  "u.k",   "a.m",  "p.m",  "resp", "fl",   "r",    "b",   "d",     "m",      "est",
         "incl",  "excl", "abbr", "var",  "subsp", "syn",  "spp",  "sp",   "ssp",  "ed",   "eds", "trans", "transl", "repr",
         "calif", "conn", "penn", "tenn", "ariz",  "colo", "fla",  "okla", "minn", "wis",  "va",  "ky",    "md",     "d.c",
         "n.y",   "ala",  "ga",   "mo",   "neb",   "nev",  "tex",  "vt",   "cal",  "ger",  "gr",  "lat",   "heb",    "ibid",
         "seq",   "ff",   "tel",  "orig", "pl",    "fem",  "masc", "adj",  "adv",  "intl", "natl"},
        // Words that are always followed by a name or another word.
        {"mr",   "mrs",    "ms",  "dr",   "prof", "rev",  "fr",  "hon",  "st",   "ste",    "sts",    "mt",   "mts",
         "gen",  "lt",     "col", "maj",  "capt", "cmdr", "adm", "sgt",  "cpl",  "pvt",    "gov",    "sen",  "rep",
         "pres", "messrs", "mme", "mlle", "sra",  "dra",  "mgr", "msgr", "supt", "insp",   "lt.col", "brig", "ven",
         "abp",  "bp",     "amb", "vs",   "v",    "e.g",  "i.e", "cf",   "viz",  "approx", "ca",     "c"},
        // Words that are abbreviated only before a number.
        {"no", "nos", "nr",   "fig", "figs", "eq", "eqs", "vol", "vols", "pp",
         "p",  "ch",  "chap", "sec", "art",  "op", "opp", "pt",  "ref",  "refs"},
        {"a",     "an",        "the",       "this",         "that",     "these",       "those",  "it",        "its",
         "he",    "his",       "she",       "her",          "they",     "their",       "we",     "our",       "you",
         "i",     "in",        "on",        "at",           "from",     "after",       "before", "during",    "since",
         "until", "by",        "for",       "with",         "within",   "without",     "as",     "when",      "while",
         "where", "although",  "though",    "because",      "if",       "however",     "but",    "and",       "or",
         "nor",   "yet",       "so",        "then",         "there",    "here",        "also",   "other",     "others",
         "some",  "many",      "most",      "several",      "all",      "both",        "each",   "every",     "such",
         "among", "according", "another",   "additionally", "moreover", "furthermore", "thus",   "therefore", "instead",
         "later", "today",     "currently", "despite",      "to",       "under",       "unlike", "what",      "who",
         "why",   "how",       "which",     "one",          "two",      "three",       "no",     "not",       "following",
         "early", "about",     "over",      "per",          "through",  "throughout",  "only",   "once",      "using"}};
    return english;
}

std::vector<std::string> SentenceSplitter::split(std::string_view paragraph) const {
    std::vector<std::string> sentences;
    for_each_surely_ended(paragraph, [&](std::string_view part) { split_part(part, sentences); });
    return sentences;
}

void SentenceSplitter::split_part(std::string_view text, std::vector<std::string>& sentences) const {
    const auto skip_blanks = [&](std::size_t i) { return std::min(text.find_first_not_of(" \t\n", i), text.size()); };
    std::size_t begin = skip_blanks(0), word = begin;
    const auto cut = [&](std::size_t end) {
        sentences.emplace_back(text.substr(begin, end - begin));
        begin = skip_blanks(end);
    };
    for (std::size_t i = begin; i < text.size();) {
        const std::size_t stop = i;
        const char32_t c = next_code_point(text, i);
        if (is_blank(c)) word = i;
        if (!is_narrow_stop(c)) continue;
        std::size_t end = i;
        const auto extend = [&](auto belongs) {  // moves `end` after all code points that belong
            for (std::size_t next = end; next < text.size() && belongs(next_code_point(text, next));) end = next;
        };
        extend(is_narrow_stop);
        const std::string_view stops = text.substr(stop, end - stop);
        extend(is_closing_mark);
        i = end;
        const bool blank_follows = end < text.size() && skip_blanks(end) > end;
        if (end == text.size() || !blank_follows) continue;
        const std::size_t next = skip_blanks(end);
        const std::string_view token = text.substr(next, std::min(text.find_first_of(" \t\n", next), text.size()) - next);
        Candidate at;
        at.before = without_opening(text.substr(word, stop - word));
        at.stops = stops;
        at.next = without_opening(token);
        at.next_is_opened = at.next.size() < token.size();
        at.is_closed = end > stop + stops.size();
        at.at_start = word == 0;
        if (ends_sentence(at, parameters_)) cut(end);
    }
    const std::size_t last = text.find_last_not_of(" \t\n");
    if (begin < text.size() && last != std::string_view::npos) cut(last + 1);
}

}  // namespace bertpretrain
