#include "tokens/words.h"

#include <array>
#include <cstdint>

#include "tokens/neighbours.h"
#include "tokens/unicode.h"

namespace bertpretrain {
namespace {

constexpr std::size_t ascii_size = 128;
constexpr char32_t capital_sigma = 0x03A3, final_sigma = 0x03C2;

const std::array<CharacterKind, ascii_size> ascii_kinds = [] {
    std::array<CharacterKind, ascii_size> kinds{};
    for (std::size_t c = 0; c < ascii_size; ++c) kinds[c] = character_kind(static_cast<char32_t>(c));
    return kinds;
}();

bool is_ascii(char c) { return static_cast<unsigned char>(c) < ascii_size; }
char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

}  // namespace

void Words::split(std::string_view text, Casing casing, TokenRules rules) {
    bytes_.clear();
    words_.clear();
    open_begin_ = open_code_points_ = 0;
    for (std::size_t i = 0; i < text.size();) {
        if (!is_ascii(text[i])) {
            i = add_run_beyond_ascii(text, i, casing, rules);
            continue;
        }
        const char c = text[i++];
        switch (ascii_kinds[static_cast<std::size_t>(c)]) {
            case CharacterKind::letter:
                bytes_.push_back(casing == Casing::uncased ? ascii_lower(c) : c);
                ++open_code_points_;
                break;
            case CharacterKind::space:
                end_word();
                break;
            case CharacterKind::dropped:
                break;
            default:
                add_single(static_cast<char32_t>(c));
        }
    }
    end_word();
}

/// Reads on to the next ASCII character, before which all marks are in their final order, and returns its position.
std::size_t Words::add_run_beyond_ascii(std::string_view text, std::size_t position, Casing casing, TokenRules rules) {
    while (position < text.size() && !is_ascii(text[position])) {
        const std::size_t begin = position;
        char32_t c = decode_utf8(text, position);
        const CharacterKind kind = character_kind(c, rules);
        if (kind == CharacterKind::dropped) continue;
        if (kind == CharacterKind::space || kind == CharacterKind::ideograph) {
            add_normalized();
            end_word();
        }
        if (kind == CharacterKind::space) continue;
        if (casing == Casing::uncased) {
            if (c == capital_sigma && rules != TokenRules::huggingface && is_final_sigma(text, begin, position, rules))
                c = final_sigma;
            append_decomposed(c, decomposed_);
        } else if (kind == CharacterKind::letter) {
            add_letter(c);
        } else {
            add_single(c);
        }
        if (kind == CharacterKind::ideograph) {
            add_normalized();
            end_word();
        }
    }
    add_normalized();
    return position;
}

/// Ends the work on decomposed characters. Punctuation is recognised here, for some characters decompose into it.
void Words::add_normalized() {
    for (const char32_t c : decomposed_) {
        if (is_nonspacing_mark(c)) continue;
        const char32_t lower = lower_case(c);
        if (character_kind(lower) == CharacterKind::punctuation) {
            add_single(lower);
        } else {
            add_letter(lower);
        }
    }
    decomposed_.clear();
}

void Words::add_letter(char32_t code_point) {
    append_utf8(code_point, bytes_);
    ++open_code_points_;
}

void Words::add_single(char32_t code_point) {
    end_word();
    add_letter(code_point);
    end_word();
}

void Words::end_word() {
    if (open_code_points_ > 0) words_.push_back({open_begin_, bytes_.size() - open_begin_, open_code_points_});
    open_begin_ = bytes_.size();
    open_code_points_ = 0;
}

}  // namespace bertpretrain
