#include "tokens/unicode/character_table.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "text/utf8.h"

namespace bertpretrain {
namespace {

constexpr char32_t capital_sigma = 0x03A3, capital_i_with_dot = 0x0130;

Character with_form(CharacterKind kind, std::u32string_view code_points) {
    const std::string form = utf8_text(code_points);
    Character character{kind, false, static_cast<std::uint8_t>(form.size()), {}};
    check(form.size() <= character.bytes.size(), "a character's normalized form fits into its table entry");
    std::copy(form.begin(), form.end(), character.bytes.begin());
    return character;
}

}  // namespace

const CharacterTable& CharacterTable::of(Casing casing, TokenRules rules, bool splits_ideographs) {
    static std::mutex guard;
    static std::map<std::tuple<Casing, TokenRules, bool>, CharacterTable> tables;
    const std::lock_guard lock(guard);
    return tables.try_emplace({casing, rules, splits_ideographs}, casing, rules, splits_ideographs).first->second;
}

CharacterTable::CharacterTable(Casing casing, TokenRules rules, bool splits_ideographs)
    : rules_(rules),
      lowers_(casing == Casing::uncased || casing == Casing::uncased_with_accents),
      strips_(casing == Casing::uncased || casing == Casing::cased_without_accents),
      splits_ideographs_(splits_ideographs) {
    for (std::size_t c = 0; c < ascii_size; ++c) ascii_[c] = character_of(static_cast<char32_t>(c));
}

const CharacterTable::Block& CharacterTable::make_block(std::size_t number) const {
    const std::lock_guard lock(making_);
    if (const Block* const made = blocks_[number].load(std::memory_order_acquire)) return *made;
    auto block = std::make_unique<Block>();
    for (std::size_t i = 0; i < block_size; ++i) (*block)[i] = character_of(static_cast<char32_t>(number * block_size + i));
    made_.push_back(std::move(block));
    blocks_[number].store(made_.back().get(), std::memory_order_release);
    return *made_.back();
}

Character CharacterTable::character_of(char32_t code_point) const {
    CharacterKind kind = character_kind(code_point, rules_);
    if (kind == CharacterKind::ideograph && !splits_ideographs_) kind = CharacterKind::letter;
    if (kind == CharacterKind::space || kind == CharacterKind::dropped) return {kind, false, 0, {}};
    const bool is_mark_that_may_move = strips_ && std::ranges::any_of(decomposed(code_point), [&](char32_t c) {
                                           return !is_nonspacing_mark(c, rules_) && combining_class(c, rules_) != 0;
                                       });
    const bool is_sigma = lowers_ && code_point == capital_sigma && rules_ != TokenRules::huggingface;
    if (is_mark_that_may_move || is_sigma) return {kind, true, 0, {}};

    std::u32string form(1, code_point);
    if (strips_) {
        form = decomposed(code_point);
        std::erase_if(form, [&](char32_t c) { return is_nonspacing_mark(c, rules_); });
    }
    if (lowers_) form = lowered(form);
    if (kind != CharacterKind::ideograph) {  // a character that decomposes into punctuation is punctuation
        const bool any_punctuation =
            std::ranges::any_of(form, [&](char32_t c) { return character_kind(c, rules_) == CharacterKind::punctuation; });
        check(!any_punctuation || form.size() == 1, "a character normalizes to letters or to one punctuation mark");
        kind = any_punctuation ? CharacterKind::punctuation : CharacterKind::letter;
    }
    return with_form(kind, form);
}

std::u32string CharacterTable::decomposed(char32_t code_point) const {
    std::u32string parts;
    append_decomposed(code_point, rules_, parts);
    return parts;
}

std::u32string CharacterTable::lowered(const std::u32string& text) const {
    std::u32string lower;
    for (const char32_t c : text)
        if (c == capital_i_with_dot) {
            lower += U"i\u0307";
        } else {
            lower += lower_case(c, rules_);
        }
    return lower;
}

}  // namespace bertpretrain
