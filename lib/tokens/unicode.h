#pragma once
// What BERT's tokenizer asks about characters. Beyond ASCII the answers are utf8proc's, so they follow its Unicode version
// (2.8: Unicode 15), as Python's version decides under Google's and NVIDIA's rules; Hugging Face's own tables are older
// (huggingface_unicode.h).

#include <string>

#include "tokens/token_rules.h"

namespace bertpretrain {

/// What becomes of a character when text is cut into words.
enum class CharacterKind {
    letter,       ///< part of a word; digits and symbols too
    space,        ///< ends a word
    punctuation,  ///< a word of its own: category P*, and all of ASCII that is no letter, digit, space or control
    ideograph,    ///< a word of its own: Chinese characters (not Hiragana, Katakana, Hangul)
    dropped,      ///< gone, its neighbours meet: U+0000, U+FFFD, control, format, by the rules private use and unassigned
};

CharacterKind character_kind(char32_t code_point, TokenRules rules);

/// Appends the canonical decomposition of a code point. NFD is the decomposition of all, then order_marks().
void append_decomposed(char32_t code_point, TokenRules rules, std::u32string& text);
/// Puts marks on the same letter into canonical order: by combining_class(), else as they are.
void order_marks(std::u32string& decomposed, TokenRules rules);

/// The place of a mark among those on the same letter; 0 for everything that no mark moves past.
int combining_class(char32_t code_point, TokenRules rules);

/// True for the marks that uncased models drop (category Mn).
bool is_nonspacing_mark(char32_t code_point, TokenRules rules);

/// Letters with a case, and what a rule about case looks through (marks, apostrophes, periods ...).
bool is_cased(char32_t code_point);
bool is_case_ignorable(char32_t code_point);

/// The lower case of one code point, regardless of its neighbours (so a final sigma is like any other).
char32_t lower_case(char32_t code_point, TokenRules rules);

}  // namespace bertpretrain
