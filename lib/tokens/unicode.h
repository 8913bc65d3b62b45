#pragma once
// What BERT's tokenizer asks about characters. Beyond ASCII the answers are utf8proc's, so they follow its Unicode version;
// Hugging Face froze its tables of marks and punctuation at Unicode 8, which shows only on characters added since.

#include <cstddef>
#include <string>
#include <string_view>

#include <string_view>
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

CharacterKind character_kind(char32_t code_point, TokenRules rules = TokenRules::huggingface);

/// Reads the code point at `position` and moves behind it. A byte that begins no valid UTF-8 sequence (overlong forms and
/// surrogates are none) gives U+FFFD and is passed over alone.
char32_t decode_utf8(std::string_view text, std::size_t& position);

/// Writes a code point, which must be a Unicode scalar value, at the end of `text`.
void append_utf8(char32_t code_point, std::string& text);

/// Appends the canonical decomposition (NFD) of a code point to a text that is itself decomposed, marks in canonical order.
void append_decomposed(char32_t code_point, std::u32string& text);

/// True for the marks that uncased models drop (category Mn).
bool is_nonspacing_mark(char32_t code_point);

/// Letters with a case, and what a rule about case looks through (marks, apostrophes, periods ...).
bool is_cased(char32_t code_point);
bool is_case_ignorable(char32_t code_point);

/// The lower case of one code point, regardless of its neighbours (so a final sigma is like any other).
char32_t lower_case(char32_t code_point);

}  // namespace bertpretrain
