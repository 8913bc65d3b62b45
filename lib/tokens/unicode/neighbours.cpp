#include "tokens/unicode/neighbours.h"

#include "text/utf8.h"
#include "tokens/unicode/unicode.h"

namespace bertpretrain {
namespace {

bool separates(CharacterKind kind) { return kind == CharacterKind::space || kind == CharacterKind::ideograph; }

enum class Neighbour { none, cased, other };

/// Classifies the nearest neighbour that is neither dropped nor case-ignorable.
/// @param next returns the next character in the direction of the search, while `more` is true
template <class More, class Next>
Neighbour neighbour(TokenRules rules, const More& more, const Next& next) {
    while (more()) {
        const char32_t c = next();
        const CharacterKind kind = character_kind(c, rules);
        if (separates(kind)) return Neighbour::none;
        if (kind == CharacterKind::dropped || is_case_ignorable(c)) continue;
        return is_cased(c) ? Neighbour::cased : Neighbour::other;
    }
    return Neighbour::none;
}

}  // namespace

bool is_final_sigma(std::string_view text, std::size_t begin, std::size_t end, TokenRules rules) {
    const Neighbour before = neighbour(
        rules, [&] { return begin > 0; }, [&] { return previous_code_point(text, begin); });
    return before == Neighbour::cased &&
           neighbour(
               rules, [&] { return end < text.size(); }, [&] { return next_code_point(text, end); }) != Neighbour::cased;
}

bool word_starts_at(std::string_view text, std::size_t position, TokenRules rules) {
    while (position > 0) {
        const CharacterKind kind = character_kind(previous_code_point(text, position), rules);
        if (kind != CharacterKind::dropped) return separates(kind);
    }
    return true;
}

bool word_ends_at(std::string_view text, std::size_t position, TokenRules rules) {
    while (position < text.size()) {
        const CharacterKind kind = character_kind(next_code_point(text, position), rules);
        if (kind != CharacterKind::dropped) return separates(kind);
    }
    return true;
}

}  // namespace bertpretrain
