#pragma once
// Finds the matches of a regular expression, to split text into words.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokens/definition/split_pattern_syntax.h"

namespace bertpretrain {

/// A backtracking matcher. Characters that the expression treats alike form a class, so that a set is a mask of classes and a
/// character is looked up once. Without nested repetition, its stack is bounded by the expression. Immutable, so thread-safe.
class SplitPattern {
public:
    /// @param where begins messages  @throws DataError if parse_split_pattern() does, or if there are more than 63 classes
    SplitPattern(std::string_view expression, const std::string& where);

    /// Calls visit(begin, end) for each match from the left, in bytes. The first alternative that matches wins.
    /// @param text valid UTF-8  @param classes memory that is overwritten
    template <class Visit>
    void for_each_match(std::string_view text, std::string& classes, const Visit& visit) const {
        classify(text, classes);
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = match(start_, begin, classes.data(), text.data());
            if (end == no_match) {
                begin = after(begin, text.data());
            } else {
                visit(begin, end);
                begin = end;
            }
        }
    }

private:
    using Mask = std::uint64_t;  ///< a set of classes
    static constexpr std::size_t no_match = ~std::size_t{0};
    static constexpr Mask any_class = ~Mask{0};
    static constexpr char end_class = 63;

    struct Node {
        enum class Kind : std::uint8_t { set, choice, ahead, not_ahead, end };
        Kind kind = Kind::end;
        bool is_possessive = false;
        std::uint32_t next = 0;  ///< what follows
        std::uint32_t least = 1, most = 1;
        std::uint32_t inside = 0;  ///< of a lookahead
        Mask mask = 0;             ///< of a set
        Mask first = any_class;    ///< classes with which a match can begin; all classes if it can be empty
        std::vector<std::uint32_t> alternatives{};
    };

    void find_classes(const std::vector<const CodePointSet*>& sets, const std::string& where);
    std::uint32_t add(Node node);
    std::uint32_t compile(const PatternAlternatives& alternatives, std::uint32_t next);
    std::uint32_t compile_term(const PatternTerm& term, std::uint32_t next);
    void classify(std::string_view text, std::string& classes) const;
    std::size_t match(std::uint32_t node, std::size_t position, const char* classes, const char* text) const;
    std::size_t match_set(const Node& node, std::size_t position, const char* classes, const char* text) const;

    static bool is_inside(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
    /// Returns the position of the character after the one at `position`, which the text's terminator or a lead byte ends.
    static std::size_t after(std::size_t position, const char* text) {
        const auto lead = static_cast<unsigned char>(text[position]);
        return position + (lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4);
    }

    std::vector<Node> nodes_;
    std::uint32_t start_ = 0;
    std::vector<const CodePointSet*> sets_;  ///< only while the expression is compiled
    std::vector<Mask> masks_;                ///< of sets_
    std::vector<char> class_of_;             ///< by code point
};

}  // namespace bertpretrain
