#pragma once
// Character properties that BERT's tokenizer needs. Beyond ASCII they come from utf8proc and its Unicode version (2.8:
// Unicode 15), whereas Google's and NVIDIA's scripts use the version of their Python. huggingface_unicode.h adjusts them to
// Hugging Face's older tables.

#include <string>

#include "tokens/token_rules.h"
#include "tokens/unicode/character_kind.h"

namespace bertpretrain {

CharacterKind character_kind(char32_t code_point, TokenRules rules);

/// Appends the canonical decomposition of a code point. Decomposing all code points and then calling order_marks() gives NFD.
void append_decomposed(char32_t code_point, TokenRules rules, std::u32string& text);
/// Sorts each run of marks into canonical order: stably, by combining_class().
void order_marks(std::u32string& decomposed, TokenRules rules);

/// Returns the canonical combining class; 0 for starters, which no mark moves past.
int combining_class(char32_t code_point, TokenRules rules);

/// True for the marks that uncased models strip (category Mn).
bool is_nonspacing_mark(char32_t code_point, TokenRules rules);

/// Unicode's Cased without what is case-ignorable: letters with a case, Roman numerals and the like.
/// Unicode's Case_Ignorable: characters that a rule about case skips (marks, apostrophes, periods and the like).
/// Source: the Unicode Standard, definitions D135 and D136; equal to Python's str.lower() for each code point of Unicode 14.
bool is_cased(char32_t code_point);
bool is_case_ignorable(char32_t code_point);

/// Returns the lower case of one code point, regardless of its neighbours: never the final sigma for a capital one.
char32_t lower_case(char32_t code_point, TokenRules rules);

}  // namespace bertpretrain
