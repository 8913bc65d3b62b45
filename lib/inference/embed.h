#pragma once
// Converts a text file to a file of vectors, one per line.

#include "core/output/progress_output.h"
#include "inference/embedding_store.h"
#include "inference/text_encoder.h"
#include "inference/text_lines.h"
#include "model/architecture.h"
#include "model/flat_parameters.h"
#include "parallel/world.h"

namespace bertpretrain {

struct EmbedCounts {
    std::int64_t lines = 0;            ///< in the whole text
    std::int64_t tokens = 0;           ///< computed by this call, summed over ranks
    double seconds = 0;                ///< duration of this call on this rank
    std::int64_t truncated_lines = 0;  ///< in the whole text; on rank 0 only
    UnknownTokens unknown;             ///< of the texts that this call computed, summed over ranks; the example is this rank's
};

/// Tokenizes the texts of at most 32 parts, evenly spread.
/// @throws DataError where more than the share `most` of their tokens is unknown, which gives vectors of [UNK]
void require_known_tokens(const TextSurvey& text, const Tokenizer& tokenizer, double most);

/// Computes the parts that are not done yet, divides them among the ranks, and renames the file to its final name. A part's
/// vectors depend only on its text, so the number of ranks and restarts do not change them. All ranks call it together.
/// @throws NumbersError naming the line whose vector is not finite; also errors of TextEncoder, EmbeddingStore and read_lines
EmbedCounts embed(const TextSurvey& text, const TextEncoder& encoder, EmbeddingStore& store, World& world,
                  ProgressOutput progress = progress_to_stderr());

/// Returns a checksum of the weights that vectors depend on: the CRC-32 of the bf16 roundings of the encoder's parameters, and of
/// the pooler's for Pooling::pooled, in the order of the layout. It is the same for a checkpoint and all its exports, loaded in
/// any precision, because heads are left out.
std::uint32_t encoder_crc32(const FlatParameters& parameters, Pooling pooling);

/// Returns a checksum of the settings, besides the shapes of its tensors, that change what a model computes.
std::uint32_t settings_crc32(const ModelConfig& model);

/// Returns the request's identity: sizes and CRC-32 of text and weights, followed by `choices`. It determines the vectors'
/// values.
nlohmann::ordered_json embedding_identity(const TextSurvey& text, const FlatParameters& parameters,
                                          const nlohmann::ordered_json& choices);

}  // namespace bertpretrain
