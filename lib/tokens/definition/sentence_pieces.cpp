#include "tokens/definition/sentence_pieces.h"

#include <numeric>

#include <sentencepiece_processor.h>

#include "core/error.h"

namespace bertpretrain {

struct SentencePieces::State {
    sentencepiece::SentencePieceProcessor processor;

    std::string normalized(std::string_view text) const {
        const std::vector<std::string> pieces = processor.EncodeAsPieces(text);
        return std::accumulate(pieces.begin(), pieces.end(), std::string());
    }
};

SentencePieces::SentencePieces(std::string_view model, const std::string& where) {
    auto state = std::make_unique<State>();
    if (const auto status = state->processor.LoadFromSerializedProto(model); !status.ok())
        throw DataError(concat(where, ": is no SentencePiece model that the library can read (", status.ToString(),
                               ")\n  do: train or copy the model again"));
    state_ = std::move(state);
}
SentencePieces::~SentencePieces() = default;

std::vector<std::string> SentencePieces::tokens() const {
    std::vector<std::string> tokens;
    for (int id = 0; id < state_->processor.GetPieceSize(); ++id) tokens.push_back(state_->processor.IdToPiece(id));
    return tokens;
}

std::int32_t SentencePieces::unknown() const { return state_->processor.unk_id(); }

bool SentencePieces::is_special(std::int32_t id) const {
    return state_->processor.IsControl(id) || state_->processor.IsUnknown(id);
}

bool SentencePieces::lowers() const { return state_->normalized("A") == state_->normalized("a"); }

void SentencePieces::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
    std::vector<int> pieces;
    const auto status = state_->processor.Encode(text, &pieces);
    check(status.ok(), "a loaded SentencePiece model encodes every text");
    ids.insert(ids.end(), pieces.begin(), pieces.end());
}

}  // namespace bertpretrain
