#include "tokens/definition/tokenizer_json_model.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/error.h"
#include "tokens/definition/tokenizer_json_steps.h"

namespace bertpretrain {
namespace {

/// What the file does to text before the model.
struct Steps {
    std::vector<Normalization> normalizations;
    std::vector<SplitStep> splits;
    bool is_byte_level = false;
};

/// Refuses Metaspace's "first" after a normalizer. tokenizers asks whether a word begins where the text as written begins, which
/// this program does not know of normalized text.
void refuse_moved_begin(const JsonPart& file, const Steps& steps) {
    const bool asks = std::ranges::any_of(steps.splits, [](const SplitStep& step) {
        return step.metaspace && step.metaspace->prepend == Metaspace::Prepend::first;
    });
    if (asks && !steps.normalizations.empty())
        file.at("pre_tokenizer")
            .refuse("has prepend_scheme = \"first\" and the file a normalizer; this program supports \"first\" without one only");
}

Steps read_steps(const JsonPart& file) {
    PreTokenizer pre_tokenizer = read_pre_tokenizer(file.find("pre_tokenizer"));
    Steps steps{read_normalizations(file.find("normalizer")), std::move(pre_tokenizer.steps), pre_tokenizer.is_byte_level};
    refuse_moved_begin(file, steps);
    return steps;
}

/// Returns the tokens of `vocab` by id; empty for ids that no token has.
std::vector<std::string> read_tokens(const JsonPart& vocab) {
    if (!vocab.value().is_object() || vocab.value().empty())
        vocab.refuse("must be an object of tokens with their ids, and not empty");
    std::vector<std::string> tokens(vocab.value().size());
    // A few ids may be unused. One that leaves most of them out is damage, and would take memory for all of them.
    const std::int64_t most_ids = std::min<std::int64_t>(most_token_ids, 16 * std::ssize(tokens) + 100'000);
    for (const auto& [token, value] : vocab.value().items()) {
        const std::int64_t id = value.is_number_integer() ? value.get<std::int64_t>() : -1;
        if (id < 0 || id >= most_ids)
            vocab.refuse(concat("gives the token \"", token, "\" the id ", value.dump(), ", expected an integer from 0 to ",
                                most_ids - 1, ", because there are ", tokens.size(), " tokens"));
        if (token.empty()) vocab.refuse(concat("has an empty token, with id ", id));
        if (tokens.size() <= static_cast<std::size_t>(id)) tokens.resize(static_cast<std::size_t>(id) + 1);
        std::string& place = tokens[static_cast<std::size_t>(id)];
        if (!place.empty()) vocab.refuse(concat("gives \"", place, "\" and \"", token, "\" the same id ", id));
        place = token;
    }
    return tokens;
}

/// Returns the unknown token. @throws DataError if the model lacks it: tokenizers fails where it would need it
std::string read_unknown(const JsonPart& part, const std::vector<std::string>& tokens) {
    std::string unknown = part.at("unk_token").text();
    if (std::ranges::find(tokens, unknown) == tokens.end())
        part.at("unk_token").refuse(concat("is \"", unknown, "\", which model.vocab lacks"));
    return unknown;
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

std::vector<std::pair<std::string, std::string>> read_merges(const JsonPart& part) {
    std::vector<std::pair<std::string, std::string>> pairs;
    const JsonPart merges = part.at("merges");
    if (!merges.value().is_array()) merges.refuse("must be an array");
    for (std::size_t m = 0; m < merges.value().size(); ++m) {
        const nlohmann::json& merge = merges.value()[m];
        if (merge.is_string() && merge.get<std::string>().starts_with("#version")) continue;  // the first line of a merges.txt
        pairs.push_back(read_merge(merges, m));
    }
    return pairs;
}

BytePairModel read_byte_pairs(const JsonPart& part, Steps steps) {
    part.require("continuing_subword_prefix", "");
    part.require("end_of_word_suffix", "");
    part.require("byte_fallback", false);
    BytePairModel model{.normalizations = std::move(steps.normalizations),
                        .splits = std::move(steps.splits),
                        .merges = read_merges(part),
                        .unknown = std::nullopt,
                        .fuse_unknown = part.flag("fuse_unk", false),
                        .ignore_merges = part.flag("ignore_merges", false)};
    if (const auto unknown = part.find("unk_token")) model.unknown = unknown->text();
    return model;
}

CharacterPairModel read_character_pairs(const JsonPart& part, Steps steps, const std::vector<std::string>& tokens) {
    CharacterPairModel model{.normalizations = std::move(steps.normalizations),
                             .splits = std::move(steps.splits),
                             .merges = read_merges(part),
                             .unknown = std::nullopt,
                             .fuse_unknown = part.flag("fuse_unk", false),
                             .ignore_merges = part.flag("ignore_merges", false),
                             .byte_fallback = part.flag("byte_fallback", false),
                             .prefix = part.text("continuing_subword_prefix", ""),
                             .suffix = part.text("end_of_word_suffix", "")};
    if (part.find("unk_token")) model.unknown = read_unknown(part, tokens);
    if (std::ranges::any_of(model.prefix, [](char c) { return static_cast<signed char>(c) < 0; }))
        part.at("continuing_subword_prefix").refuse("has other characters than ASCII's, which this program does not support");
    return model;
}

/// Reads a BPE, whose tokens spell bytes where the pre-tokenizer ends with ByteLevel.
void read_pairs(const JsonPart& part, Steps steps, TokenizerDefinition& definition) {
    part.allow({"type", "vocab", "merges", "dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk",
                "byte_fallback", "ignore_merges"});
    if (const auto dropout = part.find("dropout"); dropout && dropout->value() != 0.0)
        dropout->refuse(concat("is ", dropout->value().dump(), "; this program supports no dropout"));
    if (steps.is_byte_level) definition.model = read_byte_pairs(part, std::move(steps));
    else definition.model = read_character_pairs(part, std::move(steps), definition.tokens);
}

/// Reads Unigram's list of tokens and scores. @param tokens gets the tokens by id
UnigramModel read_unigram(const JsonPart& part, Steps steps, std::vector<std::string>& tokens) {
    part.allow({"type", "unk_id", "vocab", "byte_fallback"});
    UnigramModel model{.normalizations = std::move(steps.normalizations),
                       .splits = std::move(steps.splits),
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
    return model;
}

WordLevelModel read_word_level(const JsonPart& part, Steps steps, const std::vector<std::string>& tokens) {
    part.allow({"type", "vocab", "unk_token"});
    return {std::move(steps.normalizations), std::move(steps.splits), read_unknown(part, tokens)};
}

/// Returns whether text is normalized and split as BERT does, which has a faster way.
bool has_bert_steps(const JsonPart& file) {
    const auto type_of = [&](const char* section) {
        const std::optional<JsonPart> part = file.find(section);
        return part ? part->at("type").text() : "";
    };
    return type_of("normalizer") == "BertNormalizer" && type_of("pre_tokenizer") == "BertPreTokenizer";
}

void read_word_piece(const JsonPart& file, const JsonPart& part, Steps steps, TokenizerDefinition& definition) {
    part.allow({"type", "vocab", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word"});
    part.require("continuing_subword_prefix", "##");
    const std::int64_t longest = part.at("max_input_chars_per_word").integer();
    if (longest < 1) part.refuse("max_input_chars_per_word must be at least 1");
    const auto longest_word = static_cast<std::size_t>(longest);
    if (has_bert_steps(file)) {
        const auto& normalization = std::get<BertNormalization>(steps.normalizations.at(0));
        definition.model =
            WordPieceModel{normalization.casing, part.at("unk_token").text(), longest_word, normalization.splits_ideographs};
    } else {
        definition.model = SplitPieceModel{std::move(steps.normalizations), std::move(steps.splits),
                                           read_unknown(part, definition.tokens), longest_word};
    }
}

}  // namespace

void read_model(const JsonPart& file, TokenizerDefinition& definition) {
    const JsonPart part = file.at("model");
    const std::string absent = part.find("merges") ? "BPE" : part.find("unk_id") ? "Unigram" : "WordPiece";
    const std::string type = part.text("type", absent);  // older files name no type
    if (type != "BPE" && type != "WordPiece" && type != "WordLevel" && type != "Unigram")
        part.refuse(concat("has the type ", type,
                           ", which this program does not support; supported are WordPiece, BPE, Unigram and WordLevel"));
    Steps steps = read_steps(file);
    if (steps.is_byte_level && type != "BPE")
        file.at("pre_tokenizer").refuse("has the type ByteLevel, which this program supports for BPE only");
    if (type == "Unigram") {
        definition.model = read_unigram(part, std::move(steps), definition.tokens);
        return;
    }
    definition.tokens = read_tokens(part.at("vocab"));
    if (type == "BPE") read_pairs(part, std::move(steps), definition);
    else if (type == "WordPiece") read_word_piece(file, part, std::move(steps), definition);
    else definition.model = read_word_level(part, std::move(steps), definition.tokens);
}

}  // namespace bertpretrain
