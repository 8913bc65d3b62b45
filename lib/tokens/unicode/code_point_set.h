#pragma once
// A set of code points, as a character class of a regular expression describes it.

#include <vector>

#include "tokens/unicode/general_category.h"

namespace bertpretrain {

struct CodePointRange {
    char32_t first, last;
};

/// The union of ranges, categories and other sets; or, if `negated`, all other code points.
struct CodePointSet {
    std::vector<CodePointRange> ranges{};
    Categories categories = 0;
    std::vector<CodePointSet> parts{};
    bool negated = false;

    /// @param category the code point's general_category()
    bool contains(char32_t code_point, Categories category) const;
    /// Calls visit(c) for each code point at which a range begins, and for each that follows the end of one.
    template <class Visit>
    void for_each_edge(const Visit& visit) const {
        for (const CodePointRange& range : ranges) {
            visit(range.first);
            visit(range.last + 1);
        }
        for (const CodePointSet& part : parts) part.for_each_edge(visit);
    }
};

CodePointSet set_of(char32_t code_point);
CodePointSet white_space();                ///< "\s": the property White_Space
CodePointSet word_characters();            ///< "\w" of oniguruma
CodePointSet bracketed_word_characters();  ///< the same within brackets, where oniguruma leaves out superscripts and fractions
CodePointSet rust_word_characters();       ///< "\w" of Rust's regular expressions

}  // namespace bertpretrain
