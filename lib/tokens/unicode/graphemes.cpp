#include "tokens/unicode/graphemes.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include <utf8proc.h>

#include "tokens/unicode/code_point_set.h"
#include "tokens/valid_text.h"

namespace bertpretrain {
namespace {

/// Characters that extend the one before them since Unicode 15.1, 16 or 17, sorted. Compared with tokenizers 0.23.3 on every code
/// point, against utf8proc 2.8 (Unicode 15); newer versions of utf8proc give the same result.
constexpr CodePointRange newer_extenders[] = {{0x0897, 0x0897},   {0x1ACF, 0x1ADD},   {0x1AE0, 0x1AEB},   {0x10D69, 0x10D6D},
                                              {0x10EFA, 0x10EFC}, {0x113B8, 0x113C0}, {0x113C2, 0x113C2}, {0x113C5, 0x113C5},
                                              {0x113C7, 0x113CA}, {0x113CC, 0x113D0}, {0x113D2, 0x113D2}, {0x113E1, 0x113E2},
                                              {0x11B60, 0x11B67}, {0x11F5A, 0x11F5A}, {0x1611E, 0x1612F}, {0x1E5EE, 0x1E5EF},
                                              {0x1E6E3, 0x1E6E3}, {0x1E6E6, 0x1E6E6}, {0x1E6EE, 0x1E6EF}, {0x1E6F5, 0x1E6F5}};
constexpr char32_t an_extender = 0x0301, newer_prepended = 0x113D1, a_prepended = 0x0600, formerly_prepended = 0x11A3A,
                   a_letter = 'a';

/// Returns a character that Unicode 15 joins with its neighbours as Unicode 17 joins `c`.
char32_t stand_in(char32_t c) {
    if (c == newer_prepended) return a_prepended;
    if (c == formerly_prepended) return a_letter;
    const auto* const range =
        std::lower_bound(std::begin(newer_extenders), std::end(newer_extenders), c,
                         [](const CodePointRange& one, char32_t code_point) { return one.last < code_point; });
    return range != std::end(newer_extenders) && range->first <= c ? an_extender : c;
}

}  // namespace

std::size_t grapheme_end(std::string_view text, std::size_t begin) {
    std::size_t end = begin;
    char32_t before = stand_in(next_of_valid(text, end));
    for (std::int32_t state = 0; end < text.size();) {
        std::size_t next = end;
        const char32_t c = stand_in(next_of_valid(text, next));
        if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before), static_cast<utf8proc_int32_t>(c), &state))
            break;
        before = c;
        end = next;
    }
    return end;
}

}  // namespace bertpretrain
