#pragma once
// The kinds of characters that a tokenizer distinguishes.

namespace bertpretrain {

/// How a character is treated when text is split into words.
enum class CharacterKind {
    letter,       ///< part of a word; includes digits and symbols
    space,        ///< separates words
    punctuation,  ///< a word by itself: category P*, and ASCII symbols
    ideograph,    ///< a word by itself: Chinese characters (not Hiragana, Katakana or Hangul)
    dropped,      ///< removed without splitting the word: U+0000, U+FFFD, control, format; by some rules private or unassigned
};

}  // namespace bertpretrain
