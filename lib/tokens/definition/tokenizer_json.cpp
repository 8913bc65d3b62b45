#include "tokens/definition/tokenizer_json.h"

#include <algorithm>
#include <unordered_set>

#include "core/error.h"
#include "tokens/definition/added_token_list.h"
#include "tokens/definition/json_part.h"
#include "tokens/definition/token_roles.h"
#include "tokens/definition/tokenizer_json_steps.h"
#include "tokens/definition/tokenizer_kind.h"

namespace bertpretrain {
namespace {

constexpr std::int64_t most_tokens = 100'000'000;

/// Returns the tokens of `vocab` by id; empty for ids that no token has.
std::vector<std::string> read_tokens(const JsonPart& vocab) {
    if (!vocab.value().is_object() || vocab.value().empty())
        vocab.refuse("must be an object of tokens with their ids, and not empty");
    std::vector<std::string> tokens(vocab.value().size());
    for (const auto& [token, value] : vocab.value().items()) {
        const std::int64_t id = value.is_number_integer() ? value.get<std::int64_t>() : -1;
        if (id < 0 || id >= most_tokens)
            vocab.refuse(concat("gives the token \"", token, "\" the id ", value.dump(), ", expected an integer from 0"));
        if (token.empty()) vocab.refuse(concat("has an empty token, with id ", id));
        if (tokens.size() <= static_cast<std::size_t>(id)) tokens.resize(static_cast<std::size_t>(id) + 1);
        std::string& place = tokens[static_cast<std::size_t>(id)];
        if (!place.empty()) vocab.refuse(concat("gives \"", place, "\" and \"", token, "\" the same id ", id));
        place = token;
    }
    return tokens;
}

std::pair<std::string, std::string> read_merge(const JsonPart& merges, std::size_t number) {
    const nlohmann::json& merge = merges.value()[number];
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string())
        return {merge[0].get<std::string>(), merge[1].get<std::string>()};
    const std::string text = merge.is_string() ? merge.get<std::string>() : "";
    const std::size_t blank = text.find(' ');
    if (blank == std::string::npos || text.find(' ', blank + 1) != std::string::npos)
        merges.refuse(concat("has ", merge.dump(), " at index ", number, ", expected two tokens"));
    return {text.substr(0, blank), text.substr(blank + 1)};
}

/// Refuses Metaspace's "first" after a normalizer. tokenizers asks whether a word begins where the text as written begins, which
/// this program does not know of normalized text.
void refuse_moved_begin(const JsonPart& file, const UnigramModel& model) {
    const bool asks = std::ranges::any_of(model.splits, [](const SplitStep& step) {
        return step.metaspace && step.metaspace->prepend == Metaspace::Prepend::first;
    });
    if (asks && !model.normalizations.empty())
        file.at("pre_tokenizer")
            .refuse("has prepend_scheme = \"first\" and the file a normalizer; this program supports \"first\" without one only");
}

BytePairModel read_byte_pairs(const JsonPart& file, const JsonPart& part) {
    part.allow({"type", "vocab", "merges", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                "byte_fallback", "ignore_merges"});
    if (const auto dropout = part.find("dropout"); dropout && dropout->value() != 0.0)
        dropout->refuse(concat("is ", dropout->value().dump(), "; this program supports no dropout"));
    part.require("continuing_subword_prefix", "");
    part.require("end_of_word_suffix", "");
    part.require("byte_fallback", false);
    BytePairModel model{.normalizations = read_normalizations(file.find("normalizer")),
                        .splits = read_byte_level_splits(file.find("pre_tokenizer")),
                        .merges = {},
                        .unknown = std::nullopt,
                        .fuse_unknown = part.flag("fuse_unk", false),
                        .ignore_merges = part.flag("ignore_merges", false)};
    if (model.splits.empty())
        file.refuse("model.type is BPE without the pre-tokenizer ByteLevel; this program supports only byte-level BPE");
    if (const auto unknown = part.find("unk_token")) model.unknown = unknown->text();
    const JsonPart merges = part.at("merges");
    if (!merges.value().is_array()) merges.refuse("must be an array");
    for (std::size_t m = 0; m < merges.value().size(); ++m) {
        const nlohmann::json& merge = merges.value()[m];
        if (merge.is_string() && merge.get<std::string>().starts_with("#version")) continue;  // the first line of a merges.txt
        model.merges.push_back(read_merge(merges, m));
    }
    return model;
}

/// Reads Unigram's list of tokens and scores. @param tokens gets the tokens by id
UnigramModel read_unigram(const JsonPart& file, const JsonPart& part, std::vector<std::string>& tokens) {
    part.allow({"type", "unk_id", "vocab", "byte_fallback"});
    UnigramModel model{.normalizations = read_normalizations(file.find("normalizer")),
                       .splits = read_unigram_splits(file.find("pre_tokenizer")),
                       .scores = {},
                       .unknown = 0,
                       .byte_fallback = part.flag("byte_fallback", false)};
    const JsonPart vocab = part.at("vocab");
    if (!vocab.value().is_array() || vocab.value().empty())
        vocab.refuse("must be an array of tokens with their scores, and not empty");
    std::unordered_set<std::string> known;
    for (const nlohmann::json& entry : vocab.value()) {
        if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
            vocab.refuse(
                concat("has ", entry.dump().substr(0, 100), " at index ", tokens.size(), ", expected a token and its score"));
        tokens.push_back(entry[0].get<std::string>());
        model.scores.push_back(entry[1].get<double>());
        if (tokens.back().empty()) vocab.refuse(concat("has an empty token, with id ", tokens.size() - 1));
        if (!known.insert(tokens.back()).second) vocab.refuse(concat("has \"", tokens.back(), "\" more than once"));
    }
    const std::int64_t unknown = part.at("unk_id").integer();
    if (unknown < 0 || unknown >= static_cast<std::int64_t>(tokens.size()))
        part.at("unk_id").refuse(concat("is ", unknown, ", expected the id of one of the ", tokens.size(), " tokens"));
    model.unknown = static_cast<std::int32_t>(unknown);
    refuse_moved_begin(file, model);
    return model;
}

WordPieceModel read_word_piece(const JsonPart& file, const JsonPart& part) {
    part.allow({"type", "vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"});
    part.require("continuing_subword_prefix", "##");
    const JsonPart split = file.at("pre_tokenizer");
    if (const std::string type = split.at("type").text(); type != "BertPreTokenizer")
        split.refuse(concat("has the type ", type, ", which this program does not support; WordPiece needs BertPreTokenizer"));
    const std::int64_t longest = part.at("max_input_chars_per_word").integer();
    if (longest < 1) part.refuse("max_input_chars_per_word must be at least 1");
    const BertNormalization normalization = read_bert_normalizer(file);
    return {normalization.casing, part.at("unk_token").text(), static_cast<std::size_t>(longest),
            normalization.splits_ideographs};
}

AddedToken read_added_token(const JsonPart& part) {
    part.allow({"id", "content", "single_word", "lstrip", "rstrip", "normalized", "special"});
    AddedToken token{static_cast<std::int32_t>(std::clamp<std::int64_t>(part.at("id").integer(), -1, most_tokens)),
                     part.at("content").text(),
                     part.flag("single_word", false),
                     part.flag("lstrip", false),
                     part.flag("rstrip", false),
                     part.flag("normalized", true),
                     part.flag("special", false)};
    if (token.id < 0 || token.id == most_tokens) part.refuse(concat("has the id ", part.at("id").value().dump()));
    if (token.content.empty()) part.refuse("has no content");
    return token;
}

/// Reads the added tokens, and checks that tokenizers would give them the ids that the file says.
std::vector<AddedToken> read_added_tokens(const JsonPart& part, const std::vector<std::string>& tokens) {
    AddedTokenList added(tokens);
    for (const JsonPart& element : part.elements()) {
        const AddedToken token = read_added_token(element);
        const std::int32_t expected = added.add(token);
        if (token.id != expected)
            element.refuse(concat("gives \"", token.content, "\" the id ", token.id, ", but tokenizers would use ", expected));
    }
    return added.tokens();
}

}  // namespace

TokenizerDefinition read_tokenizer_json(std::string_view content, const std::string& where) {
    const nlohmann::json json = nlohmann::json::parse(content, nullptr, false);
    if (json.is_discarded()) throw DataError(concat(where, ": is damaged JSON, expected a tokenizer.json"));
    const JsonPart file(json, where);
    const bool is_list_of_ids =
        !json.empty() && std::ranges::all_of(json, [](const auto& value) { return value.is_number_integer(); });
    if (is_list_of_ids) throw DataError(concat(where, half_of_tokenizer));
    if (!json.contains("model"))
        file.refuse("has no member \"model\"; expected a tokenizer.json of Hugging Face's tokenizers, or one token per line");
    file.allow({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor", "decoder",
                "model"});
    file.require("version", "1.0");
    const JsonPart model = file.at("model");
    const std::string absent = model.find("merges") ? "BPE" : model.find("unk_id") ? "Unigram" : "WordPiece";
    const std::string type = model.text("type", absent);  // older files name no type
    TokenizerDefinition definition;
    if (type == "Unigram") definition.model = read_unigram(file, model, definition.tokens);
    else if (type == "BPE" || type == "WordPiece") definition.tokens = read_tokens(model.at("vocab"));
    else
        model.refuse(
            concat("has the type ", type, ", which this program does not support; supported are WordPiece, BPE and Unigram"));
    if (const auto added = file.find("added_tokens")) definition.added_tokens = read_added_tokens(*added, definition.tokens);
    if (type == "BPE") definition.model = read_byte_pairs(file, model);
    if (type == "WordPiece") definition.model = read_word_piece(file, model);
    definition.roles = token_roles(definition, file.find("post_processor"));
    return definition;
}

}  // namespace bertpretrain
