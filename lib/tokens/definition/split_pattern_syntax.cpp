#include "tokens/definition/split_pattern_syntax.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "text/utf8.h"

namespace bertpretrain {
namespace {

bool can_be_empty(const PatternAlternatives& alternatives) {
    const auto is_optional = [](const PatternTerm& term) {
        if (term.kind == PatternTerm::Kind::set) return term.least == 0;
        return term.kind != PatternTerm::Kind::group || term.least == 0 || can_be_empty(term.inside);
    };
    return std::ranges::any_of(alternatives, [&](const auto& sequence) { return std::ranges::all_of(sequence, is_optional); });
}

/// Returns whether an alternative is a lookahead alone, which oniguruma does not let a quantifier follow.
bool has_lookahead_alone(const PatternAlternatives& alternatives) {
    const auto is_lookahead = [](const PatternTerm& term) {
        if (term.kind == PatternTerm::Kind::set) return false;
        return term.kind != PatternTerm::Kind::group || has_lookahead_alone(term.inside);
    };
    return std::ranges::any_of(
        alternatives, [&](const auto& sequence) { return !sequence.empty() && std::ranges::all_of(sequence, is_lookahead); });
}

CodePointSet complement(CodePointSet set) {
    set.negated = !set.negated;
    return set;
}

/// Returns the letter in both cases, and the two characters beyond ASCII whose lower case is ASCII.
CodePointSet both_cases(char32_t letter) {
    const char lower = ascii_lower(static_cast<char>(letter));
    CodePointSet set = set_of(static_cast<char32_t>(lower));
    set.ranges.push_back({static_cast<char32_t>(lower - 'a' + 'A'), static_cast<char32_t>(lower - 'a' + 'A')});
    if (lower == 's') set.ranges.push_back({0x017F, 0x017F});
    if (lower == 'k') set.ranges.push_back({0x212A, 0x212A});
    return set;
}

class PatternParser {
public:
    PatternParser(std::string_view expression, const std::string& where) : text_(expression), where_(where) {}

    PatternAlternatives parse() {
        PatternAlternatives alternatives = parse_alternatives();
        if (position_ < text_.size()) refuse("an unmatched \")\"");
        if (can_be_empty(alternatives)) refuse("an expression that matches an empty text");
        return alternatives;
    }

private:
    [[noreturn]] void refuse(const std::string& what) const {
        throw DataError(concat(where_, ": the regular expression ", text_, " has ", what, " at byte ", position_,
                               ", which is not supported"));
    }
    bool is_at(std::string_view token) const { return text_.substr(position_).starts_with(token); }
    bool take(std::string_view token) {
        if (!is_at(token)) return false;
        position_ += token.size();
        return true;
    }
    char32_t next() {
        if (position_ >= text_.size()) refuse("an unexpected end");
        return next_code_point(text_, position_);
    }

    PatternAlternatives parse_alternatives() {
        PatternAlternatives alternatives(1);
        while (position_ < text_.size() && !is_at(")"))
            if (take("|")) {
                alternatives.emplace_back();
                letter_before_ = 0;
            } else {
                alternatives.back().push_back(parse_term());
            }
        return alternatives;
    }

    PatternTerm parse_term() {
        PatternTerm term = is_at("(") ? parse_group() : PatternTerm{.set = parse_character()};
        parse_quantifier(term);
        if (term.least != 1 || term.most != 1) letter_before_ = 0;
        return term;
    }

    PatternTerm parse_group() {
        take("(");
        PatternTerm term{.kind = PatternTerm::Kind::group};
        constexpr int most_groups = 50;  // of published tokenizers: two
        if (++open_groups_ > most_groups) refuse("a group nested so deep");
        const bool ignored_case = ignores_case_;
        if (take("?i:")) ignores_case_ = true;
        else if (take("?=")) term.kind = PatternTerm::Kind::ahead;
        else if (take("?!")) term.kind = PatternTerm::Kind::not_ahead;
        else if (!take("?:") && is_at("?")) refuse("this kind of group");
        term.inside = parse_alternatives();
        if (!take(")")) refuse("a group without \")\"");
        --open_groups_;
        ignores_case_ = ignored_case;
        return term;
    }

    void parse_quantifier(PatternTerm& term) {
        const std::size_t begin = position_;
        if (take("?")) term.least = 0;
        else if (take("*")) {
            term.least = 0;
            term.most = PatternTerm::unlimited;
        } else if (take("+")) term.most = PatternTerm::unlimited;
        else if (take("{")) return parse_counts(term);
        if (position_ == begin) return;
        term.is_possessive = take("+");
        if (is_at("?") || is_at("*") || is_at("+") || is_at("{")) refuse("a second quantifier");
        const bool is_set = term.kind == PatternTerm::Kind::set;
        if (!is_set && (term.kind != PatternTerm::Kind::group || term.most > 1 || term.is_possessive)) refuse("a repeated group");
        if (has_lookahead_alone(term.inside)) refuse("an optional lookahead");
    }

    void parse_counts(PatternTerm& term) {
        term.least = parse_number();
        term.most = !take(",") ? term.least : is_at("}") ? PatternTerm::unlimited : parse_number();
        if (!take("}") || term.least > term.most) refuse("a wrong {m,n}");
        if (is_at("?") || is_at("*") || is_at("+") || is_at("{")) refuse("a second quantifier");
        if (term.kind != PatternTerm::Kind::set) refuse("a repeated group");
    }

    std::uint32_t parse_number() {
        std::uint32_t number = 0;
        if (position_ >= text_.size() || !is_ascii_digit(text_[position_])) refuse("a \"{\" without a number");
        for (; position_ < text_.size() && is_ascii_digit(text_[position_]) && number < 10000; ++position_)
            number = 10 * number + static_cast<std::uint32_t>(text_[position_] - '0');
        return number;
    }

    CodePointSet parse_character() {
        constexpr std::string_view operators = "^$?*+{";
        if (operators.find(text_[position_]) != std::string_view::npos) refuse("this operator");
        const std::size_t begin = position_;
        const char before = std::exchange(letter_before_, '\0');
        if (take("[")) return parse_set();
        if (take(".")) return complement(set_of('\n'));
        const CodePointSet set = is_at("\\") ? parse_escape() : set_of(next());
        const bool is_class = text_[begin] == '\\' && !is_single(set);
        return is_class || !ignores_case_ ? set : ignoring_case(set.ranges[0].first, before);
    }

    /// @param before the letter of the same text before `c`, or 0
    CodePointSet ignoring_case(char32_t c, char before) {
        if (c >= 0x80) refuse("a letter beyond ASCII in (?i:...)");
        if (!is_ascii_letter(static_cast<char>(c))) return set_of(c);
        letter_before_ = ascii_lower(static_cast<char>(c));
        for (const std::string_view pair : {"ss", "st", "ff", "fi", "fl"})  // one character is equal to both letters
            if (pair[0] == before && pair[1] == letter_before_) refuse(concat("\"", pair, "\" in (?i:...)"));
        return both_cases(c);
    }

    /// Reads a set after its "[".
    CodePointSet parse_set() {
        CodePointSet set;
        if (ignores_case_) refuse("a set in (?i:...)");
        set.negated = take("^");
        if (is_at("]")) refuse("an empty set");
        while (!take("]")) {
            if (is_at("[") || is_at("&&")) refuse("a set within a set");
            CodePointSet one = is_at("\\") ? parse_escape(bracketed_word_characters()) : set_of(next());
            if (is_at("-") && !is_at("-]")) {
                take("-");
                CodePointSet last = is_at("\\") ? parse_escape(bracketed_word_characters()) : set_of(next());
                if (!is_single(one) || !is_single(last) || one.ranges[0].first > last.ranges[0].first) refuse("a wrong range");
                one.ranges[0].last = last.ranges[0].last;
            }
            set.parts.push_back(std::move(one));
        }
        return set;
    }

    static bool is_single(const CodePointSet& set) {
        return !set.negated && set.ranges.size() == 1 && set.categories == 0 && set.ranges[0].first == set.ranges[0].last;
    }

    /// @param words what \w stands for
    CodePointSet parse_escape(CodePointSet words = word_characters()) {
        take("\\");
        const std::size_t begin = position_;
        const char32_t c = next();
        switch (c) {
            case 's':
                return white_space();
            case 'S':
                return complement(white_space());
            case 'd':
                return {.categories = categories_named("Nd")};
            case 'D':
                return complement({.categories = categories_named("Nd")});
            case 'w':
                return words;
            case 'W':
                return complement(std::move(words));
            case 'p':
                return parse_property();
            case 'P':
                return complement(parse_property());
            case 'n':
                return set_of('\n');
            case 'r':
                return set_of('\r');
            case 't':
                return set_of('\t');
            case 'f':
                return set_of('\f');
            case 'v':
                return set_of('\v');
            case 'x':
                return set_of(parse_hex());
            default:
                break;
        }
        position_ = begin;
        if (c >= 0x80 || is_ascii_letter(static_cast<char>(c)) || is_ascii_digit(static_cast<char>(c))) refuse("this escape");
        return set_of(next());
    }

    CodePointSet parse_property() {
        const std::size_t end = text_.find('}', position_);
        if (!is_at("{") || end == std::string_view::npos) refuse("\\p without {...}");
        std::string name(text_.substr(position_ + 1, end - position_ - 1));
        const bool negated = name.starts_with("^");
        const Categories categories = categories_named(name.c_str() + (negated ? 1 : 0));
        if (categories == 0) refuse(concat("the property ", name));
        position_ = end + 1;
        return {.categories = categories, .negated = negated};
    }

    char32_t parse_hex() {
        const bool braces = take("{");
        char32_t value = 0;
        std::size_t digits = 0;
        constexpr std::string_view hex = "0123456789abcdef";
        for (; position_ < text_.size() && digits < (braces ? 6 : 2); ++digits, ++position_) {
            const std::size_t digit = hex.find(ascii_lower(text_[position_]));
            if (digit == std::string_view::npos) break;
            value = 16 * value + static_cast<char32_t>(digit);
        }
        if (digits == 0 || value > 0x10FFFF || (braces && !take("}")) || (!braces && value >= 0x80)) refuse("a wrong \\x");
        return value;
    }

    std::string_view text_;
    const std::string& where_;
    std::size_t position_ = 0;
    int open_groups_ = 0;
    bool ignores_case_ = false;
    char letter_before_ = 0;  ///< in (?i:...), the ASCII letter directly before; groups do not matter
};

}  // namespace

PatternAlternatives parse_split_pattern(std::string_view expression, const std::string& where) {
    return PatternParser(expression, where).parse();
}

}  // namespace bertpretrain
