#include "tokens/models/unigram.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "tokens/valid_text.h"
#include "tokens/vocabulary/byte_alphabet.h"

namespace bertpretrain {
namespace {

constexpr double unknown_penalty = 10.0;

}  // namespace

Unigram::Unigram(const std::vector<std::string>& tokens, const UnigramModel& model)
    : scores_(model.scores), unknown_score_(*std::ranges::min_element(model.scores) - unknown_penalty), unknown_(model.unknown) {
    std::vector<std::string_view> keys(tokens.begin(), tokens.end());
    std::ranges::sort(keys);
    trie_ = ByteTrie(keys, [](const ByteTrie::Step&) {});
    id_of_.assign(trie_.size(), TokenTable::none);
    for (std::size_t id = 0; id < tokens.size(); ++id) {
        ByteTrie::State state = ByteTrie::root;
        for (const char c : tokens[id]) state = trie_.child(state, static_cast<unsigned char>(c));
        id_of_[state] = static_cast<std::int32_t>(id);
    }
    if (model.byte_fallback)
        for (unsigned byte = 0; byte < 256; ++byte) byte_ids_.push_back(find(byte_token(static_cast<unsigned char>(byte))));
    Memory memory;
    std::vector<std::int32_t> ids;
    for (std::size_t id = 0; id < tokens.size(); ++id) {
        ids.clear();
        divide(tokens[id], memory, ids);
        if (ids.size() == 1 && ids[0] == static_cast<std::int32_t>(id)) whole_words_.add(tokens[id], ids[0]);
    }
}

std::int32_t Unigram::find(std::string_view token) const {
    ByteTrie::State state = ByteTrie::root;
    for (const char c : token)
        if ((state = trie_.child(state, static_cast<unsigned char>(c))) == ByteTrie::none) return TokenTable::none;
    return id_of_[state];
}

/// Finds the best division of the text before each position.
void Unigram::find_best(std::string_view word, Memory& memory) const {
    memory.best.assign(word.size() + 1, {});
    for (std::size_t begin = 0, next = 0; begin < word.size(); begin = next) {
        next_of_valid(word, next);
        const double before = memory.best[begin].score;
        const auto offer = [&](std::size_t end, std::int32_t id, double score) {
            Memory::Node& node = memory.best[end];
            if (node.begin == Memory::none || before + score > node.score) node = {before + score, begin, id};
        };
        bool has_character = false;
        ByteTrie::State state = ByteTrie::root;
        for (std::size_t i = begin; i < word.size(); ++i) {
            state = trie_.child(state, static_cast<unsigned char>(word[i]));
            if (state == ByteTrie::none) break;
            const std::int32_t id = id_of_[state];
            if (id == TokenTable::none) continue;
            offer(i + 1, id, scores_[static_cast<std::size_t>(id)]);
            has_character = has_character || i + 1 == next;
        }
        if (!has_character) offer(next, unknown_, unknown_score_);
    }
}

void Unigram::divide(std::string_view word, Memory& memory, std::vector<std::int32_t>& ids) const {
    find_best(word, memory);
    memory.ends.clear();
    for (std::size_t end = word.size(); end > 0; end = memory.best[end].begin) memory.ends.push_back(end);
    std::size_t unknown_from = Memory::none;  // where the unknown characters before this token begin
    for (auto end = memory.ends.rbegin(); end != memory.ends.rend(); ++end) {
        const Memory::Node& node = memory.best[*end];
        const bool is_unknown = node.id == unknown_;
        if (is_unknown) unknown_from = std::min(unknown_from, node.begin);
        else if (unknown_from != Memory::none) {
            append_unknown(word.substr(unknown_from, node.begin - unknown_from), ids);
            unknown_from = Memory::none;
        }
        if (!is_unknown) ids.push_back(node.id);
    }
    if (unknown_from != Memory::none) append_unknown(word.substr(unknown_from), ids);
}

/// Appends the ids of a text that has no tokens of its own.
void Unigram::append_unknown(std::string_view text, std::vector<std::int32_t>& ids) const {
    if (const std::int32_t id = find(text); id != TokenTable::none) return ids.push_back(id);
    const auto id_of_byte = [&](char c) { return byte_ids_[static_cast<unsigned char>(c)]; };
    const bool is_spelled =
        !byte_ids_.empty() && std::ranges::all_of(text, [&](char c) { return id_of_byte(c) != TokenTable::none; });
    if (!is_spelled) return ids.push_back(unknown_);
    for (const char c : text) ids.push_back(id_of_byte(c));
}

}  // namespace bertpretrain
