#include "tokens/unicode/unicode.h"

#include <algorithm>
#include <array>

#include <utf8proc.h>

#include "core/error.h"
#include "tokens/unicode/huggingface_unicode.h"

namespace bertpretrain {
namespace {

utf8proc_int32_t as_utf8proc(char32_t code_point) { return static_cast<utf8proc_int32_t>(code_point); }

bool is_ideograph(char32_t c, TokenRules rules) {
    const char32_t sixth_block = rules == TokenRules::huggingface ? 0x2B920 : 0x2B820;
    return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x2A6DF) ||
           (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= sixth_block && c <= 0x2CEAF) ||
           (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

CharacterKind ascii_kind(char32_t c) {
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return CharacterKind::space;
    if (c < ' ' || c == 0x7F) return CharacterKind::dropped;
    const bool letter_or_digit = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return letter_or_digit ? CharacterKind::letter : CharacterKind::punctuation;
}

bool is_too_new(char32_t code_point, TokenRules rules) {
    return rules == TokenRules::huggingface && huggingface::is_too_new(code_point);
}

}  // namespace

CharacterKind character_kind(char32_t code_point, TokenRules rules) {
    if (code_point < 0x80) return ascii_kind(code_point);
    if (code_point == 0xFFFD) return CharacterKind::dropped;
    const auto category = utf8proc_category(as_utf8proc(code_point));
    if (category == UTF8PROC_CATEGORY_CN && rules == TokenRules::nvidia) return CharacterKind::dropped;  // in any block
    if (is_ideograph(code_point, rules)) return CharacterKind::ideograph;
    if (rules == TokenRules::huggingface) {
        if (huggingface::is_too_new(code_point)) return CharacterKind::letter;
        if (const auto* const former = huggingface::former(code_point)) return former->kind;
    }
    switch (category) {
        case UTF8PROC_CATEGORY_CC:
        case UTF8PROC_CATEGORY_CF:
            return CharacterKind::dropped;
        case UTF8PROC_CATEGORY_CO:
            return rules == TokenRules::google ? CharacterKind::letter : CharacterKind::dropped;
        case UTF8PROC_CATEGORY_ZS:
        case UTF8PROC_CATEGORY_ZL:
        case UTF8PROC_CATEGORY_ZP:
            return CharacterKind::space;
        case UTF8PROC_CATEGORY_PC:
        case UTF8PROC_CATEGORY_PD:
        case UTF8PROC_CATEGORY_PS:
        case UTF8PROC_CATEGORY_PE:
        case UTF8PROC_CATEGORY_PI:
        case UTF8PROC_CATEGORY_PF:
        case UTF8PROC_CATEGORY_PO:
            return CharacterKind::punctuation;
        default:
            return CharacterKind::letter;
    }
}

int combining_class(char32_t code_point, TokenRules rules) {
    if (is_too_new(code_point, rules) && !huggingface::is_ordered_though_new(code_point)) return 0;
    return utf8proc_get_property(as_utf8proc(code_point))->combining_class;
}

void append_decomposed(char32_t code_point, TokenRules rules, std::u32string& text) {
    std::array<utf8proc_int32_t, 32> parts;  // Unicode guarantees at most 4
    auto count = utf8proc_ssize_t{1};
    if (is_too_new(code_point, rules)) {
        parts[0] = as_utf8proc(code_point);
    } else {
        const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
        count = utf8proc_decompose_char(as_utf8proc(code_point), parts.data(), static_cast<utf8proc_ssize_t>(parts.size()),
                                        options, nullptr);
    }
    check(count >= 0 && count <= static_cast<utf8proc_ssize_t>(parts.size()),
          "every code point has a decomposition of at most 32 parts");
    for (std::size_t part = 0; part < static_cast<std::size_t>(count); ++part) text.push_back(static_cast<char32_t>(parts[part]));
}

void order_marks(std::u32string& text, TokenRules rules) {
    const auto is_starter = [&](char32_t c) { return combining_class(c, rules) == 0; };
    for (auto begin = text.begin(); begin != text.end();) {
        begin = std::find_if_not(begin, text.end(), is_starter);
        const auto end = std::find_if(begin, text.end(), is_starter);
        std::stable_sort(begin, end,
                         [&](char32_t a, char32_t b) { return combining_class(a, rules) < combining_class(b, rules); });
        begin = end;
    }
}

bool is_nonspacing_mark(char32_t code_point, TokenRules rules) {
    if (rules == TokenRules::huggingface) {
        if (huggingface::is_too_new(code_point)) return false;
        if (const auto* const former = huggingface::former(code_point)) return former->is_nonspacing_mark;
    }
    return utf8proc_category(as_utf8proc(code_point)) == UTF8PROC_CATEGORY_MN;
}

bool is_cased(char32_t code_point) {
    // Unicode's Other_Lowercase and Other_Uppercase, as far as they are not case-ignorable: Roman numerals, letters in circles,
    // ...
    constexpr std::pair<char32_t, char32_t> others[] = {{0xAA, 0xAA},      {0xBA, 0xBA},       {0x2160, 0x217F},
                                                        {0x24B6, 0x24E9},  {0x1F130, 0x1F149}, {0x1F150, 0x1F169},
                                                        {0x1F170, 0x1F189}};
    for (const auto& [first, last] : others)
        if (first <= code_point && code_point <= last) return true;
    const auto category = utf8proc_category(as_utf8proc(code_point));
    return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT;
}

bool is_case_ignorable(char32_t code_point) {
    constexpr std::u32string_view middle_of_words =
        U"'.:\u00B7\u0387\u055F\u05F4\u2018\u2019\u2024\u2027\uFE13\uFE52\uFE55\uFF07\uFF0E\uFF1A";
    if (middle_of_words.find(code_point) != std::u32string_view::npos) return true;
    const auto category = utf8proc_category(as_utf8proc(code_point));
    return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME || category == UTF8PROC_CATEGORY_CF ||
           category == UTF8PROC_CATEGORY_LM || category == UTF8PROC_CATEGORY_SK;
}

char32_t lower_case(char32_t code_point, TokenRules rules) {
    const auto lower = static_cast<char32_t>(utf8proc_tolower(as_utf8proc(code_point)));
    return lower == code_point && rules == TokenRules::huggingface ? huggingface::newest_lower_case(code_point) : lower;
}

}  // namespace bertpretrain
