#pragma once
// How well a model guesses masked tokens and next sentences that it was not trained on.

#include "batches/evaluation_batches.h"
#include "model/bert.h"
#include "parallel/world.h"
#include "telemetry/step_record.h"

namespace bertpretrain {

/// Means over all masked tokens and all sequences of `batches`, of all ranks, without dropout.
/// The result does not depend on the world size or the micro-batch size (beyond the order of summation).
/// @param step written into the record
EvaluationRecord evaluate(const Bert& bert, EvaluationBatches& batches, World& world, std::int64_t step);

}  // namespace bertpretrain
