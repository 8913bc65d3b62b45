#pragma once
// A text file to a file of vectors, one per line.

#include "core/progress_output.h"
#include "inference/embedding_store.h"
#include "inference/text_encoder.h"
#include "inference/text_lines.h"
#include "parallel/world.h"

namespace bertpretrain {

struct EmbedCounts {
    std::int64_t lines = 0;   ///< of the whole text
    std::int64_t tokens = 0;  ///< that this start computed, on all ranks
    double seconds = 0;       ///< that this took
    std::int64_t truncated_lines = 0;
};

/// Computes the parts that are not done, shared between the ranks, and puts the file in place. A vector depends on its part
/// alone, so neither ranks nor restarts change it.
/// @throws NumbersError naming the line whose vector is not finite; otherwise as its parts do
EmbedCounts embed(const TextSurvey& text, const TextEncoder& encoder, EmbeddingStore& store, World& world,
                  ProgressOutput progress = progress_to_stderr());

/// The request's identity: what decides the vectors' values. @param choices of the caller, in the order to be shown
nlohmann::ordered_json embedding_identity(const TextSurvey& text, const FlatParameters& parameters,
                                          const nlohmann::ordered_json& choices);

}  // namespace bertpretrain
