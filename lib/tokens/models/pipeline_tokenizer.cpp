#include "tokens/models/pipeline_tokenizer.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "core/error.h"
#include "tokens/models/added_tokens.h"
#include "tokens/models/text_models.h"
#include "tokens/valid_text.h"

namespace bertpretrain {
namespace {

TextModel make_model(const TokenizerDefinition& definition, const Vocabulary& vocabulary, const std::string& where) {
    if (const auto* const pieces = std::get_if<WordPieceModel>(&definition.model)) {
        if (vocabulary.specials().unk == SpecialIds::none)
            throw DataError(concat(where, ": model.unk_token is \"", pieces->unknown, "\", which model.vocab lacks"));
        const bool normalizes_first = std::ranges::any_of(definition.added_tokens, &AddedToken::normalized);
        return TextModel(std::in_place_type<BertWords>, *pieces, definition.tokens, vocabulary.specials().unk, normalizes_first);
    }
    const std::vector<std::string>& tokens = definition.tokens;
    if (const auto* const model = std::get_if<SentencePieceModel>(&definition.model))
        return TextModel(std::in_place_type<PieceWords>, model->pieces);
    if (const auto* const model = std::get_if<UnigramModel>(&definition.model))
        return TextModel(std::in_place_type<UnigramWords>, *model, tokens, where);
    if (const auto* const model = std::get_if<WordLevelModel>(&definition.model))
        return TextModel(std::in_place_type<WordIds>, *model, tokens, where);
    if (const auto* const model = std::get_if<SplitPieceModel>(&definition.model))
        return TextModel(std::in_place_type<SplitPieces>, *model, tokens, vocabulary.specials().unk, where);
    if (const auto* const model = std::get_if<CharacterPairModel>(&definition.model))
        return TextModel(std::in_place_type<CharacterWords>, *model, tokens, where);
    return TextModel(std::in_place_type<ByteLevelWords>, std::get<BytePairModel>(definition.model), tokens, where);
}

/// Returns the added tokens that are looked for before (`normalized` false) or after the text is normalized.
AddedTokenFinder finder(const TokenizerDefinition& definition, const TextModel& model, bool normalized) {
    std::vector<std::pair<std::string, AddedToken>> tokens;
    std::string memory;
    // Of tokens with the same normalized text, the first special one wins, else the first one: tokenizers takes any of them.
    for (const bool special : {true, false})
        for (const AddedToken& token : definition.added_tokens) {
            if (token.normalized != normalized || token.special != special) continue;
            const auto text = [&](const auto& words) { return std::string(words.normalized(token.content, memory)); };
            tokens.emplace_back(normalized ? std::visit(text, model) : token.content, token);
        }
    return AddedTokenFinder(std::move(tokens));
}

}  // namespace

struct PipelineTokenizer::State {
    std::shared_ptr<const Vocabulary> vocabulary;
    TextModel model;
    AddedTokenFinder as_written, in_normalized;

    State(const TokenizerDefinition& definition, std::shared_ptr<const Vocabulary> tokens, const std::string& where)
        : vocabulary(std::move(tokens)),
          model(make_model(definition, *vocabulary, where)),
          as_written(finder(definition, model, false)),
          in_normalized(finder(definition, model, true)) {}
};

PipelineTokenizer::PipelineTokenizer(const TokenizerDefinition& definition, std::shared_ptr<const Vocabulary> vocabulary,
                                     const std::string& where)
    : state_(std::make_unique<const State>(definition, std::move(vocabulary), where)) {}
PipelineTokenizer::~PipelineTokenizer() = default;

const Vocabulary& PipelineTokenizer::vocabulary() const { return *state_->vocabulary; }
bool PipelineTokenizer::keeps_spaces() const {
    if (const auto* const words = std::get_if<UnigramWords>(&state_->model)) return !words->splitter.begins_with_sign();
    if (const auto* const words = std::get_if<CharacterWords>(&state_->model))
        return !words->prepends && !words->splitter.begins_with_sign();
    return std::holds_alternative<ByteLevelWords>(state_->model);
}

void PipelineTokenizer::encode(std::string_view utf8_text, std::vector<std::int32_t>& ids) const {
    EncodingMemory memory;
    const std::string_view text = valid_utf8(utf8_text, memory.valid);
    const auto take_token = [&](std::int32_t id) { ids.push_back(id); };
    const auto run = [&](const auto& words) {
        const auto take_text = [&](std::string_view part) {
            const std::string_view normalized = words.normalized(part, memory.normalized);
            const auto encode_words = [&](std::string_view rest) {
                memory.is_first = part.data() == text.data() && rest.data() == normalized.data();
                words.encode(rest, memory, ids);
            };
            state_->in_normalized.split(normalized, encode_words, take_token);
        };
        state_->as_written.split(text, take_text, take_token);
    };
    std::visit(run, state_->model);
}

}  // namespace bertpretrain
