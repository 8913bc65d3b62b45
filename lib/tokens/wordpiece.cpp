#include "tokens/wordpiece.h"

#include <algorithm>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "tokens/neighbours.h"

namespace bertpretrain {
namespace {

constexpr std::string_view continuation_mark = "##";

using IdOfPiece = std::unordered_map<std::string_view, std::int32_t>;

/// The special token whose name begins `text`.
const std::string_view* special_at(std::string_view text) {
    const auto* const found = std::find_if(std::begin(special_tokens), std::end(special_tokens),
                                           [&](std::string_view special) { return text.starts_with(special); });
    return found == std::end(special_tokens) ? nullptr : found;
}

}  // namespace

/// Keys are views of the vocabulary's own strings.
struct WordPiece::State {
    std::shared_ptr<const Vocabulary> vocabulary;
    Casing casing;
    TokenRules rules;
    std::size_t max_word_code_points;
    IdOfPiece first_pieces;
    IdOfPiece next_pieces;  ///< without their "##"
    std::size_t longest_piece_bytes = 0;

    State(std::shared_ptr<const Vocabulary> vocabulary_, Casing casing_, TokenRules rules_);
    bool is_special(std::string_view text, std::size_t begin, std::size_t end) const;
    void encode_plain(std::string_view text, Words& words, std::vector<std::int32_t>& ids) const;
    void encode_word(std::string_view word, std::vector<std::int32_t>& ids) const;
};

WordPiece::State::State(std::shared_ptr<const Vocabulary> vocabulary_, Casing casing_, TokenRules rules_)
    : vocabulary(std::move(vocabulary_)),
      casing(casing_),
      rules(rules_),
      max_word_code_points(rules_ == TokenRules::google ? 200 : 100) {
    for (std::int32_t id = 0; id < vocabulary->size(); ++id) {
        const std::string_view token = vocabulary->token(id);
        const bool continues = token.starts_with(continuation_mark) && token.size() > continuation_mark.size();
        const std::string_view piece = continues ? token.substr(continuation_mark.size()) : token;
        (continues ? next_pieces : first_pieces).emplace(piece, id);
        longest_piece_bytes = std::max(longest_piece_bytes, piece.size());
    }
}

/// Whether a special token's name at [begin, end) is meant as one.
bool WordPiece::State::is_special(std::string_view text, std::size_t begin, std::size_t end) const {
    if (rules == TokenRules::huggingface) return true;
    return rules == TokenRules::nvidia && word_starts_at(text, begin, rules) && word_ends_at(text, end, rules);
}

/// Text without special tokens.
void WordPiece::State::encode_plain(std::string_view text, Words& words, std::vector<std::int32_t>& ids) const {
    words.split(text, casing, rules);
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words.code_points(i) > max_word_code_points) {
            ids.push_back(vocabulary->specials().unk);
        } else {
            encode_word(words[i], ids);
        }
    }
}

/// The longest piece that the vocabulary has, again and again; a rest without any makes the whole word unknown. Cutting
/// at bytes is cutting at characters, for no valid piece begins or ends inside one.
void WordPiece::State::encode_word(std::string_view word, std::vector<std::int32_t>& ids) const {
    const std::size_t ids_before = ids.size();
    for (std::size_t begin = 0; begin < word.size();) {
        const IdOfPiece& pieces = begin == 0 ? first_pieces : next_pieces;
        std::size_t size = std::min(word.size() - begin, longest_piece_bytes);
        auto found = pieces.end();
        for (; size > 0; --size)
            if (found = pieces.find(word.substr(begin, size)); found != pieces.end()) break;
        if (size == 0) {
            ids.resize(ids_before);
            ids.push_back(vocabulary->specials().unk);
            return;
        }
        ids.push_back(found->second);
        begin += size;
    }
}

WordPiece::WordPiece(std::shared_ptr<const Vocabulary> vocabulary, Casing casing, TokenRules rules)
    : state_(std::make_unique<const State>(std::move(vocabulary), casing, rules)) {}
WordPiece::~WordPiece() = default;
WordPiece::WordPiece(WordPiece&&) noexcept = default;
WordPiece& WordPiece::operator=(WordPiece&&) noexcept = default;

const Vocabulary& WordPiece::vocabulary() const { return *state_->vocabulary; }

void WordPiece::encode(std::string_view utf8_text, std::vector<std::int32_t>& ids) const {
    Words words;
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

std::vector<std::int32_t> WordPiece::encode(std::string_view utf8_text) const {
    std::vector<std::int32_t> ids;
    encode(utf8_text, ids);
    return ids;
}

}  // namespace bertpretrain
