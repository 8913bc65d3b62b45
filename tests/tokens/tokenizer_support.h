#pragma once
// Vocabularies and hashes shared by the tests of tokens/.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/files.h"
#include "support/shared_data.h"
#include "tokens/models/wordpiece.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain::testing {

inline std::shared_ptr<const Vocabulary> shared_vocabulary(const std::string& name) {
    return std::make_shared<const Vocabulary>(Vocabulary::read(shared_data() / "vocab" / name));
}

/// Returns a vocabulary of the special tokens, then `others`.
inline std::shared_ptr<const Vocabulary> small_vocabulary(const std::vector<std::string>& others) {
    std::vector<std::string> tokens(std::begin(special_tokens), std::end(special_tokens));
    tokens.insert(tokens.end(), others.begin(), others.end());
    return std::make_shared<const Vocabulary>(tokens, "small vocabulary");
}

/// Returns the tokens of `ids`.
inline std::vector<std::string> tokens_of(const WordPiece& wordpiece, const std::string& text) {
    std::vector<std::string> tokens;
    for (const std::int32_t id : wordpiece.encode(text)) tokens.push_back(wordpiece.vocabulary().token(id));
    return tokens;
}

/// Returns the words of a text.
inline std::vector<std::string> words_of(const std::string& text, Casing casing) {
    WordReader reader(casing, TokenRules::huggingface);
    reader.start("left over from before");
    reader.next();
    reader.start(text);
    std::vector<std::string> words;
    for (std::string_view word = reader.next(); !word.empty(); word = reader.next()) words.emplace_back(word);
    return words;
}

}  // namespace bertpretrain::testing
