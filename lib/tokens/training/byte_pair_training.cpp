#include "tokens/training/byte_pair_training.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "tokens/definition/bert_template.h"
#include "tokens/definition/tokenizer_json.h"
#include "tokens/models/pair_merges.h"
#include "tokens/string_hash.h"
#include "tokens/vocabulary/byte_alphabet.h"
#include "tokens/vocabulary/vocabulary.h"

namespace bertpretrain {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t byte_values = 256;

/// The tokens of a BPE while it is trained. A token's id is its index.
class ByteLevelTokens {
public:
    ByteLevelTokens() {
        for (const std::string_view token : special_tokens) add(std::string(token));
        std::array<unsigned char, byte_values> order{};
        std::iota(order.begin(), order.end(), static_cast<unsigned char>(0));
        std::ranges::sort(order, {}, character_of_byte);
        for (const unsigned char byte : order) id_of_byte_[byte] = add(token_of_bytes(std::string(1, static_cast<char>(byte))));
    }
    std::int32_t of_byte(char byte) const { return id_of_byte_[static_cast<unsigned char>(byte)]; }
    /// Adds the concatenation of two tokens if it is missing, and records the merge. Returns its id.
    std::int32_t merge(SymbolPair pair) {
        const std::string& left = tokens_[static_cast<std::size_t>(pair.left)];
        const std::string& right = tokens_[static_cast<std::size_t>(pair.right)];
        merges_.push_back(left + " " + right);
        return add(left + right);
    }
    const std::vector<std::string>& tokens() const { return tokens_; }
    const std::vector<std::string>& merges() const { return merges_; }

private:
    std::int32_t add(const std::string& token) {
        const auto [place, is_new] = ids_.emplace(token, static_cast<std::int32_t>(tokens_.size()));
        if (is_new) tokens_.push_back(token);
        return place->second;
    }

    std::vector<std::string> tokens_, merges_;
    StringMap<std::int32_t> ids_;
    std::array<std::int32_t, byte_values> id_of_byte_{};
};

constexpr std::string_view mask_token = "[MASK]";

/// [MASK] stands for a word with the one space before it, but not for a line end or indentation. `lstrip`, which RoBERTa's <mask>
/// has, would take all of them. So a normalizer removes that space, and [MASK] is looked for in the normalized text.
Json mask_without_space() {
    return {{"type", "Replace"}, {"pattern", {{"String", concat(" ", mask_token)}}}, {"content", mask_token}};
}

Json added_special_tokens() {
    Json added = Json::array();
    for (std::size_t id = 0; id < std::size(special_tokens); ++id)
        added.push_back({{"id", id},
                         {"content", special_tokens[id]},
                         {"single_word", false},
                         {"lstrip", false},
                         {"rstrip", false},
                         {"normalized", special_tokens[id] == mask_token},
                         {"special", true}});
    return added;
}

/// The ids of tokens in their order.
Json numbered(const std::vector<std::string>& tokens) {
    Json::object_t ids;  // filled through its container: its own insertion searches all earlier keys (quadratic)
    for (std::size_t id = 0; id < tokens.size(); ++id) static_cast<Json::object_t::Container&>(ids).emplace_back(tokens[id], id);
    return ids;
}

std::string json_of(const ByteLevelTokens& trained) {
    constexpr std::int32_t cls = 2, sep = 3;
    static_assert(special_tokens[cls] == "[CLS]" && special_tokens[sep] == "[SEP]");
    const Json byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
    const Json json = {
        {"version", "1.0"},
        {"truncation", nullptr},
        {"padding", nullptr},
        {"added_tokens", added_special_tokens()},
        {"normalizer", {{"type", "Sequence"}, {"normalizers", Json::array({mask_without_space(), {{"type", "NFC"}}})}}},
        {"pre_tokenizer", byte_level},
        {"post_processor", bert_template({"[CLS]", cls}, {"[SEP]", sep})},
        {"decoder", byte_level},
        {"model",
         {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"continuing_subword_prefix", nullptr},
          {"end_of_word_suffix", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", false},
          {"vocab", numbered(trained.tokens())},
          {"merges", trained.merges()}}}};
    return json.dump(1) + "\n";
}

PairMerges words_as_bytes(const WordCounts& words, const ByteLevelTokens& tokens) {
    PairMerges merges;
    std::vector<std::int32_t> symbols;
    for (const auto& [word, count] : words) {
        symbols.clear();
        for (const char byte : word) symbols.push_back(tokens.of_byte(byte));
        merges.add_word(symbols, count);
    }
    return merges;
}

}  // namespace

BytePairModel trained_byte_level() {
    return std::get<BytePairModel>(read_tokenizer_json(json_of({}), "a trained tokenizer.json").model);
}

std::string train_byte_pairs(const WordCounts& counts, const BytePairTraining& training) {
    ByteLevelTokens tokens;
    if (std::cmp_less(training.size, tokens.tokens().size()))
        throw ConfigError(concat("a byte-level BPE of ", training.size, " tokens is too small: the special tokens and the bytes ",
                                 "alone are ", tokens.tokens().size(), "; increase --size"));
    PairMerges merges = words_as_bytes(counts, tokens);
    while (std::cmp_less(tokens.tokens().size(), training.size)) {
        const auto best = merges.most_frequent();
        if (!best || best->count < training.min_frequency) break;
        merges.merge(best->pair, tokens.merge(best->pair));
    }
    return json_of(tokens);
}

}  // namespace bertpretrain
