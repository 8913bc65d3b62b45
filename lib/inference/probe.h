#pragma once
// Judges a model by a labelled task: how well its vectors, without any change to the model, predict the labels.

#include <functional>
#include <optional>
#include <vector>

#include "inference/labelled_texts.h"
#include "inference/text_encoder.h"
#include "parallel/world.h"
#include "telemetry/probe_record.h"

namespace bertpretrain {

struct ProbeResult {
    ProbeRecord record;                            ///< on all ranks
    std::optional<std::int64_t> first_not_finite;  ///< index of a text whose vector is not finite; on rank 0
    std::vector<double> strengths;                 ///< chosen for each fold; on rank 0
    std::int64_t truncated = 0;                    ///< texts longer than the encoder takes; on rank 0
};

/// Computes the texts' vectors, which the ranks share, and cross-validates on rank 0 (cross_validation.h) while the others wait.
/// The texts are encoded in parts of fixed size, so the number of ranks does not change the result. All ranks call it together.
/// @param leave called between parts, equally often on all ranks, so that it may communicate; true stops the probe
/// @returns nullopt when `leave` returned true
std::optional<ProbeResult> probe(
    const TextEncoder& encoder, const LabelledTexts& texts, World& world,
    const std::function<bool()>& leave = [] { return false; });

}  // namespace bertpretrain
