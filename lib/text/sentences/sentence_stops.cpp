#include "text/sentences/sentence_stops.h"

#include <algorithm>
#include <iterator>

#include "text/utf8.h"

namespace bertpretrain {
namespace {

constexpr char32_t urdu_stop = 0x06D4, khmer_stop = 0x17D4, ethiopic_space = 0x1361;

constexpr char32_t sure_stops[] = {
    0x0589,                                                 // Armenian
    0x061F,     urdu_stop,                                  // Arabic question mark, Urdu
    0x0700,     0x0701,    0x0702, 0x07F9,                  // Syriac, NKo
    0x0964,     0x0965,    0x0DF4,                          // danda and double danda of Indic scripts, Sinhala
    0x0F0D,     0x0F0E,    0x0F0F, 0x0F10, 0x0F11, 0x0F12,  // Tibetan
    0x104B,                                                 // Burmese
    0x1362,     0x1367,    0x1368,                          // Ethiopic
    0x166E,                                                 // Canadian syllabics
    khmer_stop, 0x17D5,    0x17DA,                          // Khmer
    0x1803,     0x1809,                                     // Mongolian
    0x1C7E,     0x1C7F,                                     // Ol Chiki
    0x3002,                                                 // Chinese and Japanese
    0xA4FF,     0xA60E,    0xA9C9, 0xABEB,                  // Lisu, Vai, Javanese, Meetei Mayek
    0xFF01,     0xFF1F,    0xFF61,                          // full-width ! and ?, half-width full stop
};

bool is_tibetan_stop(char32_t c) { return c >= 0x0F0D && c <= 0x0F12; }
bool is_wide_stop(char32_t c) { return c == 0x3002 || c >= 0xFF01; }
bool is_stop(char32_t c) { return is_sure_stop(c) || c == '.' || c == '?' || c == '!'; }

/// Returns the code point at `i`, or 0 at the end.
char32_t at(std::string_view text, std::size_t i) { return i < text.size() ? next_code_point(text, i) : 0; }

/// Returns the end of the code points from `i` on that belong.
template <class Belongs>
std::size_t run_end(std::string_view text, std::size_t i, const Belongs& belongs) {
    for (std::size_t next = i; next < text.size() && belongs(next_code_point(text, next));) i = next;
    return i;
}

/// Whether the stop stands in letters' names with stops between them: at least two groups of at most four letters, up to a blank.
bool is_urdu_abbreviation(std::string_view text, std::size_t begin, std::size_t stop) {
    constexpr std::size_t longest = 48, longest_group = 4;
    std::size_t first = stop;
    while (first > begin && stop - first < longest && !is_blank(static_cast<unsigned char>(text[first - 1]))) --first;
    std::size_t groups = 0, letters = 0;
    for (std::size_t i = first; i < text.size() && i - first < 2 * longest;) {
        const char32_t c = next_code_point(text, i);
        if (is_blank(c)) break;
        if (c == urdu_stop) letters = 0;
        else if (++letters == 1) ++groups;
        if (letters > longest_group) return false;
    }
    return groups > 1;
}

/// Whether `from` is inside the abbreviation "la" between two stops, which means "etc.".
bool is_khmer_etc(std::string_view text, std::size_t from) {
    return at(text, from) == 0x179B && at(text, from + 3) == khmer_stop;
}

}  // namespace

bool is_sure_stop(char32_t c) {
    return c >= sure_stops[0] && std::binary_search(std::begin(sure_stops), std::end(sure_stops), c);
}

bool is_closing_mark(char32_t c) {
    return std::u32string_view(U"\"')]}\u2019\u201D\u00BB\u203A\u300D\u300F").find(c) != std::u32string_view::npos;
}

SureEnd sure_end(std::string_view text, std::size_t begin, std::size_t stop, bool has_letter) {
    std::size_t after = stop;
    const char32_t c = next_code_point(text, after);
    if (c == khmer_stop && is_khmer_etc(text, after)) return {false, after};
    if (is_tibetan_stop(c) && !has_letter) return {false, after};
    if (c == urdu_stop && after < text.size() && is_urdu_abbreviation(text, begin, stop)) return {false, after};
    const auto continues = [](char32_t next) { return is_stop(next) || next == ethiopic_space; };
    std::size_t end = run_end(text, run_end(text, stop, continues), is_closing_mark);
    if (!is_wide_stop(c) && is_decimal_digit(at(text, end)))  // the same digit follows all stops of the run
        return {false, run_end(text, after, [&](char32_t next) { return continues(next) && !is_wide_stop(next); })};
    while (is_tibetan_stop(c)) {  // a second mark after a space belongs to the first
        const std::size_t next = run_end(text, end, is_blank);
        if (next == end || !is_tibetan_stop(at(text, next))) break;
        end = run_end(text, next, is_tibetan_stop);
    }
    return {true, end};
}

std::size_t find_sure_stop(std::string_view text, std::size_t from) {
    static constexpr ByteSet first_bytes("\xD6\xD8\xDB\xDC\xDF\xE0\xE1\xE3\xEA\xEF");
    for (std::size_t i = first_bytes.find(text, from); i < text.size(); i = first_bytes.find(text, i)) {
        const std::size_t stop = i;
        const char32_t c = next_code_point(text, i);
        if (is_sure_stop(c) || (c == ethiopic_space && at(text, i) == ethiopic_space)) return stop;
    }
    return text.size();
}

}  // namespace bertpretrain
