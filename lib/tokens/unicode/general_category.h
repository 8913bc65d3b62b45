#pragma once
// Unicode's general categories as the regular expressions of Hugging Face's tokenizers see them: those of Unicode 16.

#include <cstdint>

namespace bertpretrain {

/// A set of general categories, one bit each.
using Categories = std::uint32_t;

/// Returns the code point's category as a set of one.
Categories general_category(char32_t code_point);

/// Returns the categories of a name such as "L" (all letters) or "Lu" (capital letters); 0 for names that are not supported.
Categories categories_named(const char* name);

}  // namespace bertpretrain
