#include "tokens/models/byte_pairs.h"

#include <optional>

#include "core/error.h"
#include "tokens/string_hash.h"
#include "tokens/vocabulary/byte_alphabet.h"

namespace bertpretrain {

BytePairs::BytePairs(const std::vector<std::string>& tokens, const BytePairModel& model, const std::string& where)
    : fuse_unknown_(model.fuse_unknown), merges_(model.merges.size()) {
    StringMap<std::int32_t> ids;
    ids.reserve(tokens.size());
    for (std::size_t id = 0; id < tokens.size(); ++id)
        if (!tokens[id].empty()) ids.emplace(tokens[id], static_cast<std::int32_t>(id));
    const auto id_of = [&](std::string_view token, std::size_t merge) {
        const auto found = ids.find(token);
        if (found == ids.end())
            throw DataError(
                concat(where, ": model.merges[", merge, "] needs the token \"", token, "\", which model.vocab lacks"));
        return found->second;
    };
    std::string merged;
    for (std::size_t m = 0; m < model.merges.size(); ++m) {
        const auto& [left, right] = model.merges[m];
        merged.assign(left).append(right);
        merges_.add(id_of(left, m), id_of(right, m), static_cast<std::uint32_t>(m), id_of(merged, m));
    }
    if (model.unknown)
        if (const auto found = ids.find(*model.unknown); found != ids.end()) unknown_ = found->second;
    byte_ids_.fill(TokenTable::none);
    std::vector<std::pair<std::string, std::int32_t>> words;
    for (std::size_t id = 0; id < tokens.size(); ++id) {
        const std::optional<std::string> bytes = bytes_of_token(tokens[id]);
        if (!bytes || bytes->empty()) continue;
        if (bytes->size() == 1) byte_ids_[static_cast<unsigned char>((*bytes)[0])] = static_cast<std::int32_t>(id);
        words.emplace_back(*bytes, static_cast<std::int32_t>(id));
    }
    std::vector<std::int32_t> pieces;
    for (const auto& [bytes, id] : words) {
        pieces.clear();
        if (!model.ignore_merges) split(bytes, pieces);
        if (model.ignore_merges || (pieces.size() == 1 && pieces[0] == id)) whole_words_.add(bytes, id);
    }
}

void BytePairs::split(std::string_view word, std::vector<std::int32_t>& ids) const {
    const std::size_t begin = ids.size();
    bool after_unknown = false;
    for (const char c : word) {
        const std::int32_t id = byte_ids_[static_cast<unsigned char>(c)];
        const bool is_unknown = id == TokenTable::none;
        if (!is_unknown) ids.push_back(id);
        else if (unknown_ != TokenTable::none && !(after_unknown && fuse_unknown_)) ids.push_back(unknown_);
        after_unknown = is_unknown;
    }
    merges_.apply(ids, begin);
}

}  // namespace bertpretrain
