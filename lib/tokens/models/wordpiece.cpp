#include "tokens/models/wordpiece.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "tokens/models/piece_matcher.h"
#include "tokens/unicode/neighbours.h"

namespace bertpretrain {
namespace {

/// Returns the special token that `text` starts with, or nullptr.
const std::string_view* special_at(std::string_view text) {
    const auto* const found = std::find_if(std::begin(special_tokens), std::end(special_tokens),
                                           [&](std::string_view special) { return text.starts_with(special); });
    return found == std::end(special_tokens) ? nullptr : found;
}

}  // namespace

struct WordPiece::State {
    std::shared_ptr<const Vocabulary> vocabulary;
    Casing casing;
    TokenRules rules;
    PieceMatcher matcher;

    bool is_special(std::string_view text, std::size_t begin, std::size_t end) const;
    void encode_plain(std::string_view text, WordReader& words, std::vector<std::int32_t>& ids) const;
};

/// Returns whether the rules treat the special token's name at [begin, end) as that token.
bool WordPiece::State::is_special(std::string_view text, std::size_t begin, std::size_t end) const {
    if (rules == TokenRules::huggingface) return true;
    return rules == TokenRules::nvidia && word_starts_at(text, begin, rules) && word_ends_at(text, end, rules);
}

/// Encodes text without looking for special tokens.
void WordPiece::State::encode_plain(std::string_view text, WordReader& words, std::vector<std::int32_t>& ids) const {
    words.start(text);
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) matcher.match(word, ids);
}

WordPiece::WordPiece(std::shared_ptr<const Vocabulary> vocabulary, Casing casing, TokenRules rules)
    : state_(new State{vocabulary, casing, rules, PieceMatcher(*vocabulary, rules == TokenRules::google ? 200 : 100)}) {}
WordPiece::~WordPiece() = default;
WordPiece::WordPiece(WordPiece&&) noexcept = default;
WordPiece& WordPiece::operator=(WordPiece&&) noexcept = default;

const Vocabulary& WordPiece::vocabulary() const { return *state_->vocabulary; }

void WordPiece::encode(std::string_view utf8_text, std::vector<std::int32_t>& ids) const {
    WordReader words(state_->casing, state_->rules);
    for (std::size_t from = 0; from < utf8_text.size();) {
        const std::size_t bracket = utf8_text.find('[', from);
        if (bracket == std::string_view::npos) break;
        const std::string_view* const special = special_at(utf8_text.substr(bracket));
        if (special == nullptr || !state_->is_special(utf8_text, bracket, bracket + special->size())) {
            from = bracket + 1;
            continue;
        }
        state_->encode_plain(utf8_text.substr(0, bracket), words, ids);
        ids.push_back(*state_->vocabulary->find(*special));
        utf8_text.remove_prefix(bracket + special->size());
        from = 0;
    }
    state_->encode_plain(utf8_text, words, ids);
}

}  // namespace bertpretrain
