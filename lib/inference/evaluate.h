#pragma once
// How well a model guesses masked tokens and next sentences that it was not trained on.

#include <functional>
#include <optional>

#include "batches/evaluation_batches.h"
#include "model/bert.h"
#include "parallel/world.h"
#include "telemetry/step_record.h"

namespace bertpretrain {

/// Means over all masked tokens and all sequences of `batches`, of all ranks, without dropout.
/// The result does not depend on the world size or the micro-batch size (beyond the order of summation).
/// @param step written into the record
/// @param leave asked between batches by all ranks together, equally often
/// @returns nothing when `leave` said so
std::optional<EvaluationRecord> evaluate(const Bert& bert, EvaluationBatches& batches, World& world, std::int64_t step,
                                         const std::function<bool()>& leave);
EvaluationRecord evaluate(const Bert& bert, EvaluationBatches& batches, World& world, std::int64_t step);

}  // namespace bertpretrain
