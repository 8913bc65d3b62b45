#pragma once
// Small tokenizer.json definitions for tests.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tokens/definition/tokenizer_json.h"
#include "tokens/models/pipeline_tokenizer.h"
#include "tokens/vocabulary/byte_alphabet.h"

namespace bertpretrain::testing {

/// Returns a byte-level BPE like GPT-2's: the 256 bytes, then the results of `merges`, whose tokens are given as bytes.
inline nlohmann::json byte_level_definition(const std::vector<std::pair<std::string, std::string>>& merges) {
    nlohmann::json vocab, merge_list = nlohmann::json::array();
    for (int byte = 0; byte < 256; ++byte) vocab[token_of_bytes(std::string(1, static_cast<char>(byte)))] = byte;
    for (const auto& [left, right] : merges) {
        merge_list.push_back(token_of_bytes(left) + " " + token_of_bytes(right));
        const std::size_t next = vocab.size();
        if (!vocab.contains(token_of_bytes(left + right))) vocab[token_of_bytes(left + right)] = next;
    }
    return {{"version", "1.0"},
            {"truncation", nullptr},
            {"padding", nullptr},
            {"added_tokens", nlohmann::json::array()},
            {"normalizer", nullptr},
            {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}}},
            {"post_processor", nullptr},
            {"decoder", {{"type", "ByteLevel"}}},
            {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merge_list}}}};
}

/// Returns BERT's definition with a small vocabulary.
inline nlohmann::json word_piece_definition(const std::vector<std::string>& tokens) {
    nlohmann::json vocab;
    for (const std::string& token : tokens) vocab[token] = vocab.size();
    return {{"version", "1.0"},
            {"added_tokens", nlohmann::json::array()},
            {"normalizer",
             {{"type", "BertNormalizer"},
              {"clean_text", true},
              {"handle_chinese_chars", true},
              {"strip_accents", nullptr},
              {"lowercase", true}}},
            {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
            {"post_processor", nullptr},
            {"model",
             {{"type", "WordPiece"},
              {"vocab", vocab},
              {"unk_token", "[UNK]"},
              {"continuing_subword_prefix", "##"},
              {"max_input_chars_per_word", 100}}}};
}

/// Returns a BPE of the characters "a" to "z" whose words are separated by white space. Results of `merges` follow, as the
/// concatenation of their tokens.
inline nlohmann::json character_definition(const std::vector<std::pair<std::string, std::string>>& merges) {
    nlohmann::json vocab, merge_list = nlohmann::json::array();
    for (char c = 'a'; c <= 'z'; ++c) vocab[std::string(1, c)] = vocab.size();
    for (const auto& [left, right] : merges) {
        merge_list.push_back({left, right});
        const std::size_t next = vocab.size();
        if (!vocab.contains(left + right)) vocab[left + right] = next;
    }
    return {{"version", "1.0"},          {"added_tokens", nlohmann::json::array()},
            {"normalizer", nullptr},     {"pre_tokenizer", {{"type", "WhitespaceSplit"}}},
            {"post_processor", nullptr}, {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", merge_list}}}};
}

/// Returns a Unigram with Metaspace like XLM-R's. The first token is the unknown one.
inline nlohmann::json unigram_definition(const std::vector<std::pair<std::string, double>>& pieces) {
    nlohmann::json vocab = nlohmann::json::array();
    for (const auto& [token, score] : pieces) vocab.push_back({token, score});
    return {{"version", "1.0"},
            {"added_tokens", nlohmann::json::array()},
            {"normalizer", nullptr},
            {"pre_tokenizer", {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "always"}, {"split", true}}},
            {"post_processor", nullptr},
            {"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocab}, {"byte_fallback", false}}}};
}

inline nlohmann::json added_token(const std::string& content, std::int32_t id,
                                  const nlohmann::json& changes = nlohmann::json::object()) {
    nlohmann::json token = {{"id", id},        {"content", content},  {"single_word", false}, {"lstrip", false},
                            {"rstrip", false}, {"normalized", false}, {"special", true}};
    token.update(changes);
    return token;
}

inline std::unique_ptr<const Tokenizer> tokenizer_of(const nlohmann::json& json) {
    const TokenizerDefinition definition = read_tokenizer_json(json.dump(), "tokenizer.json");
    return std::make_unique<const PipelineTokenizer>(definition, std::make_shared<const Vocabulary>(definition, "tokenizer.json"),
                                                     "tokenizer.json");
}

/// Returns the tokens of a text. Those of byte-level models are spelled as the bytes that they stand for.
inline std::vector<std::string> pieces_of(const nlohmann::json& json, const std::string& text) {
    const auto tokenizer = tokenizer_of(json);
    std::vector<std::string> pieces;
    for (const std::int32_t id : tokenizer->encode(text)) {
        const std::string& token = tokenizer->vocabulary().token(id);
        pieces.push_back(tokenizer->keeps_spaces() ? bytes_of_token(token).value_or(token) : token);
    }
    return pieces;
}

}  // namespace bertpretrain::testing
