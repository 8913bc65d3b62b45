#include "tokens/definition/sentence_pieces.h"

#include <cstdio>
#include <numeric>

#include <sentencepiece_processor.h>

#include "core/error.h"

namespace bertpretrain {

namespace {

/// Returns a serialized model that encodes as `model` does, but gives an unknown character as its bytes, whose ids follow all
/// others. (The library joins a run of unknown characters by copying it once per character, and does not join bytes.) Parts of a
/// serialized message that follow each other are merged: these add to the pieces and to the trainer's settings.
std::string with_bytes(std::string_view model) {
    std::string bytes(model);
    for (int byte = 0; byte < 256; ++byte) {
        char piece[7];
        std::snprintf(piece, sizeof piece, "<0x%02X>", byte);
        bytes += std::string("\x0A\x0A\x0A\x06") + piece + "\x18\x06";  // pieces {piece: "<0x41>", type: BYTE}
    }
    return bytes + "\x12\x03\x98\x02\x01";  // trainer_spec {byte_fallback: true}
}

}  // namespace

struct SentencePieces::State {
    sentencepiece::SentencePieceProcessor processor;
    int size = 0;  ///< pieces of the model itself; the ids of bytes follow

    std::string normalized(std::string_view text) const {
        const std::vector<std::string> pieces = processor.EncodeAsPieces(text);
        return std::accumulate(pieces.begin(), pieces.end(), std::string());
    }
};

SentencePieces::SentencePieces(std::string_view model, const std::string& where) {
    auto state = std::make_unique<State>();
    const bool gives_bytes = state->processor.LoadFromSerializedProto(with_bytes(model)).ok();
    // Refused, too, where a model has pieces of these names (with all of them it has no unknown characters), or tests itself on
    // unknown characters. As it is it gives the same ids, slowly for long runs of unknown characters.
    const auto status = gives_bytes ? state->processor.status() : state->processor.LoadFromSerializedProto(model);
    if (!status.ok())
        throw DataError(concat(where, ": is no SentencePiece model that the library can read (", status.ToString(),
                               ")\n  do: train or copy the model again"));
    state->size = state->processor.GetPieceSize() - (gives_bytes ? 256 : 0);
    state_ = std::move(state);
}
SentencePieces::~SentencePieces() = default;

std::vector<std::string> SentencePieces::tokens() const {
    std::vector<std::string> tokens;
    for (int id = 0; id < state_->size; ++id) tokens.push_back(state_->processor.IdToPiece(id));
    return tokens;
}

std::int32_t SentencePieces::unknown() const { return state_->processor.unk_id(); }

bool SentencePieces::is_special(std::int32_t id) const {
    return state_->processor.IsControl(id) || state_->processor.IsUnknown(id);
}

bool SentencePieces::lowers() const { return state_->normalized("A") == state_->normalized("a"); }

void SentencePieces::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
    std::vector<int> pieces;
    check(state_->processor.Encode(text, &pieces).ok(), "a loaded SentencePiece model encodes every text");
    bool after_unknown = false;
    for (const int piece : pieces) {
        const bool is_unknown = piece >= state_->size || piece == unknown();
        if (!(is_unknown && after_unknown)) ids.push_back(is_unknown ? unknown() : piece);
        after_unknown = is_unknown;
    }
}

}  // namespace bertpretrain
