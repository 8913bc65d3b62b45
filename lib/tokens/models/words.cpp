#include "tokens/models/words.h"

#include <algorithm>

#include "text/utf8.h"
#include "tokens/unicode/neighbours.h"
#include "tokens/unicode/unicode.h"

namespace bertpretrain {
namespace {

constexpr char32_t upper_sigma = 0x03A3, sigma = 0x03C3, final_sigma = 0x03C2;

bool is_ascii(char c) { return static_cast<signed char>(c) >= 0; }

}  // namespace

std::string_view WordReader::next() {
    word_.clear();
    while (position_ < text_.size()) {
        if (!is_ascii(text_[position_])) {
            if (add_beyond_ascii()) break;
            continue;
        }
        const Character& character = table_->ascii(text_[position_]);
        if (character.kind == CharacterKind::letter) {
            add_ascii_letters();
            continue;
        }
        if (character.kind == CharacterKind::punctuation && !word_.empty()) break;
        ++position_;
        if (character.kind == CharacterKind::punctuation) word_ = character.form();
        if (character.kind != CharacterKind::dropped && !word_.empty()) break;
    }
    return word_;
}

std::string_view WordReader::normalized(std::string_view text) {
    start(text);
    word_.clear();
    while (position_ < text_.size()) {
        const std::size_t begin = position_;
        const Character& character = (*table_)[next_code_point(text_, position_)];
        if (character.kind == CharacterKind::space) word_ += ' ';
        else if (character.kind == CharacterKind::ideograph) word_.append(" ").append(character.form()).append(" ");
        else if (character.in_context) add_in_context(begin);
        else if (character.kind != CharacterKind::dropped) word_ += character.form();
    }
    return word_;
}

void WordReader::add_ascii_letters() {
    const std::size_t begin = position_, size_before = word_.size();
    while (position_ < text_.size() && is_ascii(text_[position_]) &&
           table_->ascii(text_[position_]).kind == CharacterKind::letter)
        ++position_;
    word_.append(text_, begin, position_ - begin);
    if (!table_->lowers()) return;
    for (std::size_t i = size_before; i < word_.size(); ++i) word_[i] = ascii_lower(word_[i]);
}

/// Consumes the next character, which is not ASCII, unless it starts another word.
/// @returns whether the current word is complete
bool WordReader::add_beyond_ascii() {
    const std::size_t begin = position_;
    std::size_t end = begin;
    const Character& character = (*table_)[next_code_point(text_, end)];
    const bool stands_alone = character.kind == CharacterKind::punctuation || character.kind == CharacterKind::ideograph;
    if (stands_alone && !word_.empty()) return true;
    position_ = end;
    if (character.kind == CharacterKind::dropped) return false;
    if (character.in_context) {
        add_in_context(begin);
    } else {
        word_ += character.form();
    }
    return !word_.empty() && character.kind != CharacterKind::letter;
}

/// Appends a character whose form depends on its neighbours: a capital sigma (by the rules with final sigmas), or a run of
/// marks, put into canonical order because some of them are kept.
void WordReader::add_in_context(std::size_t begin) {
    const TokenRules rules = table_->rules();
    std::size_t end = begin;
    const char32_t first = next_code_point(text_, end);
    if (first == upper_sigma) {
        append_code_point(word_, is_final_sigma(text_, begin, end, rules) ? final_sigma : sigma);
        return;
    }
    std::u32string run, parts;
    const auto add_to_run = [&](char32_t c) {
        if (!is_nonspacing_mark(c, rules)) run += c;
    };
    append_decomposed(first, rules, parts);
    std::for_each(parts.begin(), parts.end(), add_to_run);
    for (; end < text_.size(); position_ = end) {
        const char32_t c = next_code_point(text_, end);
        if ((*table_)[c].kind == CharacterKind::dropped) continue;
        parts.clear();
        append_decomposed(c, rules, parts);
        if (combining_class(parts[0], rules) == 0) break;
        std::for_each(parts.begin(), parts.end(), add_to_run);
    }
    order_marks(run, rules);
    for (const char32_t c : run) append_code_point(word_, table_->lowers() ? lower_case(c, rules) : c);
}

}  // namespace bertpretrain
