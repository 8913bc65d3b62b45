#include "tokens/models/piece_matcher.h"

#include <algorithm>
#include <string>
#include <utility>

#include "text/utf8.h"

namespace bertpretrain {
namespace {

constexpr std::string_view continuation_mark = "##";
constexpr char continuation_byte =
    '\xFF';  // never occurs in UTF-8, so it can prefix the "##" pieces in the trie that all pieces share

bool is_longer_than(std::string_view text, std::size_t code_points) {
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
    return text.size() > code_points &&
           text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues)) > code_points;
}

/// Returns whether `text` is valid UTF-8 without U+FFFD, as all words are.
bool can_stand_in_words(std::string_view text) {
    for (std::size_t position = 0; position < text.size();)
        if (next_code_point(text, position) == U'\uFFFD') return false;
    return true;
}

using Piece = std::pair<std::string, std::int32_t>;

/// Returns the pieces that can match, spelled as trie keys ("##" as continuation_byte), sorted by bytes.
/// @param words_have_marks whether a word may begin with "##", so that a piece matches it as it is written, too
std::vector<Piece> pieces_of(const std::vector<std::string>& tokens, std::size_t longest_word, bool words_have_marks) {
    std::vector<Piece> pieces;
    for (std::size_t id = 0; id < tokens.size(); ++id) {
        std::string_view text = tokens[id];
        const auto add = [&](bool continues) {
            if (text.empty() || !can_stand_in_words(text) || is_longer_than(text, longest_word)) return;
            pieces.emplace_back(std::string(continues, continuation_byte).append(text), static_cast<std::int32_t>(id));
        };
        const bool continues = text.starts_with(continuation_mark) && text.size() > continuation_mark.size();
        if (!continues || words_have_marks) add(false);
        if (!continues) continue;
        text.remove_prefix(continuation_mark.size());
        add(true);
    }
    std::sort(pieces.begin(), pieces.end());
    return pieces;
}

}  // namespace

PieceMatcher::PieceMatcher(const std::vector<std::string>& tokens, std::int32_t unknown, std::size_t longest_word,
                           bool words_have_marks)
    : longest_word_(longest_word), unknown_(unknown) {
    const std::vector<Piece> pieces = pieces_of(tokens, longest_word, words_have_marks);
    std::vector<std::string_view> keys(pieces.size());
    std::transform(pieces.begin(), pieces.end(), keys.begin(), [](const Piece& piece) { return std::string_view(piece.first); });
    std::vector<ByteTrie::Step> steps;
    trie_ = ByteTrie(keys, [&](const ByteTrie::Step& step) { steps.push_back(step); });
    continuation_ = trie_.child(ByteTrie::root, static_cast<unsigned char>(continuation_byte));
    leaving_.assign(trie_.size(), {no_piece, no_piece, ByteTrie::none});
    for (const auto& [text, id] : pieces) {
        ByteTrie::State state = ByteTrie::root;
        for (const char byte : text) state = trie_.child(state, static_cast<unsigned char>(byte));
        leaving_[state].id = id;
    }
    for (const ByteTrie::Step& step : steps)
        if (step.to != continuation_) link(step);
}

/// Computes the failure link of `step.to`. The links of its parent and of all states nearer the root must exist.
void PieceMatcher::link(const ByteTrie::Step& step) {
    Leaving& leaving = leaving_[step.to];
    if (leaving.id != no_piece) {
        leaving.sure = static_cast<std::int32_t>(sure_.size());
        leaving.resume = continuation_;
        sure_.push_back({leaving.id, no_piece, 1});
        return;
    }
    std::int32_t sure = leaving_[step.from].sure;
    ByteTrie::State state = leaving_[step.from].resume;
    for (; state != ByteTrie::none; state = leaving_[state].resume) {
        if (const ByteTrie::State next = trie_.child(state, step.byte); next != ByteTrie::none) {
            leaving.sure = sure;
            leaving.resume = next;
            return;
        }
        sure = joined(sure, leaving_[state].sure);
    }
}

/// Concatenates the piece lists that end at `first` and `second`. Returns the index in sure_ of the last piece.
std::int32_t PieceMatcher::joined(std::int32_t first, std::int32_t second) {
    if (first == no_piece) return second;
    std::vector<std::int32_t> ids;
    take_sure(second, ids);
    for (const std::int32_t id : ids) {
        sure_.push_back({id, first, sure_[static_cast<std::size_t>(first)].count + 1});
        first = static_cast<std::int32_t>(sure_.size() - 1);
    }
    return first;
}

void PieceMatcher::take_sure(std::int32_t last, std::vector<std::int32_t>& ids) const {
    if (last == no_piece) return;
    const auto count = static_cast<std::size_t>(sure_[static_cast<std::size_t>(last)].count);
    ids.resize(ids.size() + count);
    for (auto place = ids.rbegin(); last != no_piece; ++place) {
        *place = sure_[static_cast<std::size_t>(last)].id;
        last = sure_[static_cast<std::size_t>(last)].before;
    }
}

void PieceMatcher::match(std::string_view word, std::vector<std::int32_t>& ids) const {
    const std::size_t ids_before = ids.size();
    if (is_longer_than(word, longest_word_) || !match_pieces(word, ids)) {
        ids.resize(ids_before);
        ids.push_back(unknown_);
    }
}

/// @returns false if the pieces do not cover the word
bool PieceMatcher::match_pieces(std::string_view word, std::vector<std::int32_t>& ids) const {
    ByteTrie::State state = ByteTrie::root;
    for (const char c : word) {
        const auto byte = static_cast<unsigned char>(c);
        ByteTrie::State next = trie_.child(state, byte);
        for (; next == ByteTrie::none; next = trie_.child(state, byte))
            if (!leave(state, ids)) return false;
        state = next;
    }
    while (state != continuation_) {
        if (leaving_[state].id != no_piece) {
            ids.push_back(leaving_[state].id);
            return true;
        }
        if (!leave(state, ids)) return false;
    }
    return true;
}

/// Emits the pieces of the state's failure link and follows it. @returns false if the state has none
inline bool PieceMatcher::leave(ByteTrie::State& state, std::vector<std::int32_t>& ids) const {
    const Leaving& leaving = leaving_[state];
    if (leaving.resume == ByteTrie::none) return false;
    take_sure(leaving.sure, ids);
    state = leaving.resume;
    return true;
}

}  // namespace bertpretrain
