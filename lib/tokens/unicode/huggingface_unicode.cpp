#include "tokens/unicode/huggingface_unicode.h"

#include <algorithm>
#include <iterator>

#include "tokens/unicode/general_category.h"

namespace bertpretrain::huggingface {
namespace {

struct Range {
    char32_t first, last;
};

/// Sorted. The gaps between the newer marks, punctuation, format characters and compositions contain only letters, so each
/// block is written as one range.
constexpr Range too_new[] = {{0x05C8, 0x05C9},   {0x061D, 0x061D},   {0x07FD, 0x07FD},   {0x0890, 0x08E2},   {0x09FD, 0x09FE},
                             {0x0A76, 0x0A76},   {0x0AFA, 0x0AFF},   {0x0B53, 0x0B55},   {0x0C04, 0x0C3C},   {0x0C77, 0x0C77},
                             {0x0C84, 0x0C84},   {0x0D00, 0x0D00},   {0x0D3B, 0x0D3C},   {0x0D81, 0x0D81},   {0x0EBA, 0x0EBA},
                             {0x0ECE, 0x0ECE},   {0x1715, 0x1715},   {0x180F, 0x180F},   {0x1ABF, 0x1AF0},   {0x1B4E, 0x1B4F},
                             {0x1B7D, 0x1B7F},   {0x1DF6, 0x1DFB},   {0x2E43, 0x2E63},   {0xA82C, 0xA82C},   {0xA8C5, 0xA8C5},
                             {0xA8FF, 0xA8FF},   {0x105C9, 0x105E4}, {0x10D24, 0x10F89}, {0x11070, 0x11074}, {0x110C2, 0x110CD},
                             {0x111CF, 0x111CF}, {0x1123E, 0x11241}, {0x1133B, 0x1133B}, {0x11383, 0x1145E}, {0x11660, 0x1166C},
                             {0x116B9, 0x116B9}, {0x1182F, 0x11FFF}, {0x12FF1, 0x1612F}, {0x16D68, 0x16F4F}, {0x16FE2, 0x16FF1},
                             {0x1CF00, 0x1D128}, {0x1D250, 0x1D281}, {0x1E000, 0x1E6F5}, {0x1E944, 0x1E95F}};

constexpr Range ordered_though_new[] = {{0x08D4, 0x08E1},   {0x1DFB, 0x1DFB},   {0x11442, 0x11442}, {0x11446, 0x11446},
                                        {0x11C3F, 0x11C3F}, {0x1E000, 0x1E02A}, {0x1E944, 0x1E94A}};

constexpr Range new_compatible_forms[] = {{0x32FF, 0x32FF},   {0xA7F2, 0xA7F4},   {0xAB69, 0xAB69},
                                          {0x10781, 0x10785}, {0x10787, 0x107B0}, {0x107B2, 0x107BA},
                                          {0x1E030, 0x1E06D}, {0x1F16C, 0x1F16C}, {0x1FBF0, 0x1FBF9}};

/// Sorted. Only the marks in these ranges count.
constexpr Range newer_marks[] = {
    {0x07FD, 0x07FD},   {0x0897, 0x08D3},   {0x09FE, 0x09FE},   {0x0AFA, 0x0AFF},   {0x0B55, 0x0B55},   {0x0C04, 0x0C3C},
    {0x0CF3, 0x0D00},   {0x0D3B, 0x0D3C},   {0x0D81, 0x0D81},   {0x0EBA, 0x0EBA},   {0x0ECE, 0x0ECE},   {0x1715, 0x1715},
    {0x180F, 0x180F},   {0x1ABF, 0x1ACE},   {0x1CF7, 0x1CF7},   {0x1DF6, 0x1DFA},   {0xA82C, 0xA82C},   {0xA8FF, 0xA8FF},
    {0x10D24, 0x10F85}, {0x11070, 0x11074}, {0x110C2, 0x110C2}, {0x11145, 0x11146}, {0x111C9, 0x111C9}, {0x111CE, 0x111CF},
    {0x11241, 0x11241}, {0x1133B, 0x1133B}, {0x113B8, 0x113E2}, {0x1145E, 0x1145E}, {0x1182C, 0x11A99}, {0x11D31, 0x1612F},
    {0x16F4F, 0x16F4F}, {0x16F7F, 0x16F87}, {0x16FE4, 0x16FF1}, {0x1CF00, 0x1CF46}, {0x1E08F, 0x1E5EF}};
constexpr Range former_marks = {0x1CF2, 0x1CF3};  // letters since Unicode 12

constexpr Former formers[] = {{0x166D, CharacterKind::punctuation, false}, {0x1734, CharacterKind::letter, true},
                              {0x1885, CharacterKind::letter, false},      {0x1886, CharacterKind::letter, false},
                              {0xA9BD, CharacterKind::letter, false},      {0x111C9, CharacterKind::punctuation, false}};

struct LowerCase {
    char32_t first, last, lower_of_first;
};
constexpr LowerCase newest_capitals[] = {{0x1C89, 0x1C89, 0x1C8A},   {0xA7CB, 0xA7CB, 0x0264}, {0xA7CC, 0xA7CC, 0xA7CD},
                                         {0xA7CE, 0xA7CE, 0xA7CF},   {0xA7D2, 0xA7D2, 0xA7D3}, {0xA7D4, 0xA7D4, 0xA7D5},
                                         {0xA7DA, 0xA7DA, 0xA7DB},   {0xA7DC, 0xA7DC, 0x019B}, {0x10D50, 0x10D65, 0x10D70},
                                         {0x16EA0, 0x16EB8, 0x16EBB}};

/// Returns the range that contains `c` in a sorted list, or the list's end.
template <class Ranges>
auto range_of(const Ranges& ranges, char32_t c) {
    const auto range = std::lower_bound(std::begin(ranges), std::end(ranges), c,
                                        [](const auto& one, char32_t code_point) { return one.last < code_point; });
    return range != std::end(ranges) && range->first <= c ? range : std::end(ranges);
}

}  // namespace

bool is_too_new(char32_t code_point) { return range_of(too_new, code_point) != std::end(too_new); }

bool is_ordered_though_new(char32_t code_point) {
    return range_of(ordered_though_new, code_point) != std::end(ordered_though_new);
}

bool has_new_compatible_form(char32_t code_point) {
    return range_of(new_compatible_forms, code_point) != std::end(new_compatible_forms);
}

bool is_stripped_mark(char32_t code_point) {
    if (former_marks.first <= code_point && code_point <= former_marks.last) return true;
    return (general_category(code_point) & categories_named("M")) != 0 &&
           range_of(newer_marks, code_point) == std::end(newer_marks);
}

const Former* former(char32_t code_point) {
    const auto* const found = std::find_if(std::begin(formers), std::end(formers),
                                           [&](const Former& former) { return former.code_point == code_point; });
    return found == std::end(formers) ? nullptr : found;
}

char32_t newest_lower_case(char32_t code_point) {
    const auto capitals = range_of(newest_capitals, code_point);
    return capitals == std::end(newest_capitals) ? code_point : capitals->lower_of_first + (code_point - capitals->first);
}

}  // namespace bertpretrain::huggingface
