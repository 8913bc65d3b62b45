#pragma once
// Where the tables inside Hugging Face's tokenizers differ from the present Unicode Standard. Its categories are frozen at
// Unicode 8 and its canonical order at Unicode 9; its lower case is that of Unicode 17.
// Sources: the crates unicode_categories and unicode-normalization-alignments as tokenizers 0.23 builds them, Unicode's
// DerivedAge.txt; ages and exceptions compared with tokenizers 0.23.3 on every code point.

#include "tokens/unicode.h"

namespace bertpretrain::huggingface {

/// True for characters newer than Unicode 8 whose category would matter: tokenizers takes them for letters that neither
/// decompose nor count as marks.
bool is_too_new(char32_t code_point);

/// Of those, the marks that Unicode 9 added: they stay in the text, in canonical order all the same.
bool is_ordered_though_new(char32_t code_point);

/// What a character was in Unicode 8 whose category has changed since; nullptr for all others.
struct Former {
    char32_t code_point;
    CharacterKind kind;
    bool is_nonspacing_mark;
};
const Former* former(char32_t code_point);

/// The lower case of capitals that Unicode 16 and 17 added; other characters are returned as they are.
char32_t newest_lower_case(char32_t code_point);

}  // namespace bertpretrain::huggingface
