#include "tokens/unicode/unicode_forms.h"

#include <algorithm>
#include <array>
#include <utility>

#include <utf8proc.h>

#include "text/utf8.h"
#include "tokens/unicode/huggingface_unicode.h"
#include "tokens/unicode/unicode.h"
#include "tokens/valid_text.h"

namespace bertpretrain {
namespace {

constexpr TokenRules rules = TokenRules::huggingface;
constexpr char32_t end_of_code_points = 0x110000, end_of_decompositions = 0x30000;

/// Appends the compatibility decomposition, or the canonical one of characters whose newer one tokenizers does not know.
void append_compatible(char32_t c, std::u32string& text) {
    if (huggingface::is_too_new(c) || huggingface::has_new_compatible_form(c)) return append_decomposed(c, rules, text);
    std::array<utf8proc_int32_t, 32> parts;  // Unicode's longest has 18
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), parts.data(),
                                               static_cast<utf8proc_ssize_t>(parts.size()), options, nullptr);
    for (std::size_t part = 0; std::cmp_less(part, count); ++part) text.push_back(static_cast<char32_t>(parts[part]));
}

/// Returns the character that the pair composes to, or 0.
char32_t composed(char32_t first, char32_t second) {
    if (huggingface::is_too_new(first) || huggingface::is_too_new(second)) return 0;
    std::array<utf8proc_int32_t, 2> pair{static_cast<utf8proc_int32_t>(first), static_cast<utf8proc_int32_t>(second)};
    const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    if (utf8proc_normalize_utf32(pair.data(), 2, options) != 1) return 0;
    const auto whole = static_cast<char32_t>(pair[0]);
    return huggingface::is_too_new(whole) ? 0 : whole;
}

/// Composes decomposed text in place. Source: the Unicode Standard, D117.
void compose(std::u32string& text) {
    constexpr int none = -1;
    std::size_t size = 0, starter = 0;
    bool has_starter = false;
    int last_class = none;  // of the characters kept after the starter
    for (const char32_t c : text) {
        const int order = combining_class(c, rules);
        if (has_starter && last_class < order)
            if (const char32_t whole = composed(text[starter], c); whole != 0) {
                text[starter] = whole;
                continue;
            }
        if (order == 0) {
            starter = size;
            has_starter = true;
            last_class = none;
        } else {
            last_class = order;
        }
        text[size++] = c;
    }
    text.resize(size);
}

}  // namespace

UnicodeNormalizer::UnicodeNormalizer(UnicodeForm form) : form_(form), is_inert_(end_of_code_points) {
    for (char32_t c = 0; c < end_of_code_points; ++c)
        is_inert_[c] = combining_class(c, rules) == 0 && normalized({&c, 1}) == std::u32string_view(&c, 1);
    if (!is_composed()) return;
    std::u32string parts;
    for (char32_t c = 0; c < end_of_decompositions; ++c) {  // characters that may join what precedes them
        parts.clear();
        append_decomposed(c, rules, parts);
        if (parts.size() > 1) is_inert_[parts.back()] = false;
        if (parts.size() > 2) is_inert_[parts[1]] = false;
    }
}

std::u32string UnicodeNormalizer::normalized(std::u32string_view text) const {
    std::u32string form;
    for (const char32_t c : text)
        if (is_compatible()) append_compatible(c, form);
        else append_decomposed(c, rules, form);
    order_marks(form, rules);
    if (is_composed()) compose(form);
    return form;
}

bool UnicodeNormalizer::is_normal(std::string_view text) const {
    for (std::size_t i = 0; i < text.size();)
        if (!is_inert_[next_of_valid(text, i)]) return false;
    return true;
}

void UnicodeNormalizer::append(std::string_view text, std::string& out) const {
    std::size_t copied = 0, last_inert = 0;
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t begin = i;
        if (is_inert_[next_of_valid(text, i)]) {
            last_inert = begin;
            continue;
        }
        std::size_t end = i;  // of the run that is normalized as one: up to the next inert character
        for (; i < text.size(); end = i)
            if (is_inert_[next_of_valid(text, i)]) break;
        const std::size_t from = std::max(copied, last_inert);
        out.append(text, copied, from - copied);
        out += utf8_text(normalized(code_points_of(text.substr(from, end - from))));
        copied = last_inert = end;
        i = end;
    }
    out.append(text, copied);
}

}  // namespace bertpretrain
