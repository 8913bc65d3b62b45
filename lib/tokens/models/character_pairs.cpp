#include "tokens/models/character_pairs.h"

#include <algorithm>

#include "core/error.h"
#include "tokens/valid_text.h"
#include "tokens/vocabulary/byte_alphabet.h"

namespace bertpretrain {

CharacterPairs::CharacterPairs(const std::vector<std::string>& tokens, const CharacterPairModel& model, const std::string& where)
    : fuse_unknown_(model.fuse_unknown), prefix_(model.prefix), suffix_(model.suffix), merges_(model.merges.size()) {
    for (std::size_t id = 0; id < tokens.size(); ++id)
        if (!tokens[id].empty()) tokens_.add(tokens[id], static_cast<std::int32_t>(id));
    if (model.unknown) unknown_ = tokens_.find(*model.unknown);
    byte_ids_.fill(TokenTable::none);
    if (model.byte_fallback)
        for (std::size_t byte = 0; byte < byte_ids_.size(); ++byte)
            byte_ids_[byte] = tokens_.find(byte_token(static_cast<unsigned char>(byte)));
    add_merges(model, where);
    find_whole_words(tokens, model.ignore_merges);
}

/// The right token of a merge loses its prefix.
void CharacterPairs::add_merges(const CharacterPairModel& model, const std::string& where) {
    const auto id_of = [&](std::string_view token, std::size_t merge) {
        const std::int32_t id = tokens_.find(token);
        if (id == TokenTable::none)
            throw DataError(
                concat(where, ": model.merges[", merge, "] needs the token \"", token, "\", which model.vocab lacks"));
        return id;
    };
    for (std::size_t m = 0; m < model.merges.size(); ++m) {
        const auto& [left, right] = model.merges[m];
        const std::int32_t left_id = id_of(left, m), right_id = id_of(right, m);
        const std::string merged = left + right.substr(std::min(prefix_.size(), right.size()));
        merges_.add(left_id, right_id, static_cast<std::uint32_t>(m), id_of(merged, m));
    }
}

void CharacterPairs::find_whole_words(const std::vector<std::string>& tokens, bool ignore_merges) {
    std::vector<std::int32_t> pieces;
    for (std::size_t id = 0; id < tokens.size(); ++id) {
        std::string_view word = tokens[id];
        if (!ignore_merges) {
            if (!word.ends_with(suffix_)) continue;
            word.remove_suffix(suffix_.size());
        }
        if (word.empty()) continue;
        pieces.clear();
        if (!ignore_merges) split(word, pieces);
        if (ignore_merges || (pieces.size() == 1 && pieces[0] == static_cast<std::int32_t>(id)))
            whole_words_.add(word, static_cast<std::int32_t>(id));
    }
}

/// Appends the tokens of a symbol's bytes. @returns false if not all of them have one
bool CharacterPairs::append_bytes(std::string_view symbol, std::vector<std::int32_t>& ids) const {
    const auto id_of = [&](char c) { return byte_ids_[static_cast<unsigned char>(c)]; };
    if (!std::ranges::all_of(symbol, [&](char c) { return id_of(c) != TokenTable::none; })) return false;
    for (const char c : symbol) ids.push_back(id_of(c));
    return true;
}

void CharacterPairs::split(std::string_view word, std::vector<std::int32_t>& ids) const {
    const std::size_t first = ids.size();
    bool has_unknown = false;  // an unknown token that is appended before the next token of the vocabulary, as tokenizers does
    const auto append_unknown = [&] {
        if (has_unknown) ids.push_back(unknown_);
        has_unknown = false;
    };
    std::string spelled;
    for (std::size_t begin = 0, end = 0; begin < word.size(); begin = end) {
        next_of_valid(word, end);
        std::string_view symbol = word.substr(begin, end - begin);
        const bool has_prefix = begin > 0 && !prefix_.empty(), has_suffix = end == word.size() && !suffix_.empty();
        if (has_prefix || has_suffix)
            symbol = spelled.assign(has_prefix ? prefix_ : "").append(symbol).append(has_suffix ? suffix_ : "");
        if (const std::int32_t id = tokens_.find(symbol); id != TokenTable::none) {
            append_unknown();
            ids.push_back(id);
        } else if (!append_bytes(symbol, ids) && unknown_ != TokenTable::none) {
            if (!fuse_unknown_) append_unknown();
            has_unknown = true;
        }
    }
    append_unknown();
    merges_.apply(ids, first);
}

}  // namespace bertpretrain
