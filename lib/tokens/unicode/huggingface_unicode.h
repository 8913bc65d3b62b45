#pragma once
// Differences between the Unicode tables in Hugging Face's tokenizers and the current standard. Its categories are those of
// Unicode 8, its canonical ordering that of Unicode 9, its lower case that of Unicode 17.
// Sources: the crates unicode_categories and unicode-normalization-alignments as built into tokenizers 0.23, and Unicode's
// DerivedAge.txt. The ranges and exceptions were compared with tokenizers 0.23.3 on every code point.

#include "tokens/unicode/character_kind.h"

namespace bertpretrain::huggingface {

/// True for characters added after Unicode 8 whose category affects the result. tokenizers treats them as letters: it neither
/// decomposes them nor treats them as marks.
bool is_too_new(char32_t code_point);

/// True for the marks among them that Unicode 9 added. tokenizers keeps them in the text, but puts them in canonical order.
bool is_ordered_though_new(char32_t code_point);

/// True for characters whose compatibility decomposition is newer than Unicode 9. tokenizers does not decompose them.
bool has_new_compatible_form(char32_t code_point);

/// True for the characters that StripAccents of tokenizers removes: the marks of Unicode 9, whether they take space or not.
bool is_stripped_mark(char32_t code_point);

/// A character's properties in Unicode 8. former() returns nullptr if its category has not changed since.
struct Former {
    char32_t code_point;
    CharacterKind kind;
    bool is_nonspacing_mark;
};
const Former* former(char32_t code_point);

/// Returns the lower case of capitals that Unicode 16 and 17 added, and any other character unchanged.
char32_t newest_lower_case(char32_t code_point);

}  // namespace bertpretrain::huggingface
