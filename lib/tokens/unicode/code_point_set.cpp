#include "tokens/unicode/code_point_set.h"

#include <algorithm>
#include <initializer_list>

namespace bertpretrain {

bool CodePointSet::contains(char32_t code_point, Categories category) const {
    const bool found =
        (categories & category) != 0 ||
        std::ranges::any_of(ranges, [&](const auto& r) { return r.first <= code_point && code_point <= r.last; }) ||
        std::ranges::any_of(parts, [&](const auto& part) { return part.contains(code_point, category); });
    return found != negated;
}

CodePointSet set_of(char32_t code_point) { return {.ranges = {{code_point, code_point}}}; }

CodePointSet white_space() {
    return {.ranges = {{0x09, 0x0D},
                       {0x20, 0x20},
                       {0x85, 0x85},
                       {0xA0, 0xA0},
                       {0x1680, 0x1680},
                       {0x2000, 0x200A},
                       {0x2028, 0x2029},
                       {0x202F, 0x202F},
                       {0x205F, 0x205F},
                       {0x3000, 0x3000}}};
}

namespace {

/// The characters that both kinds of regular expressions count to words.
CodePointSet common_word_characters() {
    // Besides the categories: letter numbers, connectors and circled letters.
    return {.ranges = {{0x5F, 0x5F},       {0x16EE, 0x16F0},   {0x203F, 0x2040},   {0x2054, 0x2054},   {0x2160, 0x2188},
                       {0x24B6, 0x24E9},   {0x3007, 0x3007},   {0x3021, 0x3029},   {0x3038, 0x303A},   {0xA6E6, 0xA6EF},
                       {0xFE33, 0xFE34},   {0xFE4D, 0xFE4F},   {0xFF3F, 0xFF3F},   {0x10140, 0x10174}, {0x10341, 0x10341},
                       {0x1034A, 0x1034A}, {0x103D1, 0x103D5}, {0x12400, 0x1246E}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169},
                       {0x1F170, 0x1F189}},
            .categories = categories_named("L") | categories_named("M") | categories_named("Nd")};
}

CodePointSet with_ranges(CodePointSet set, std::initializer_list<CodePointRange> ranges) {
    set.ranges.insert(set.ranges.end(), ranges);
    return set;
}

}  // namespace

CodePointSet word_characters() {
    return with_ranges(common_word_characters(), {{0xB2, 0xB3}, {0xB9, 0xB9}, {0xBC, 0xBE}});  // superscripts and fractions
}

CodePointSet bracketed_word_characters() { return common_word_characters(); }

CodePointSet rust_word_characters() {
    return with_ranges(common_word_characters(), {{0x200C, 0x200D}});  // joiners
}

}  // namespace bertpretrain
