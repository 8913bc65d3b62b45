#pragma once
// Evaluates masked language modeling and next sentence prediction on held-out data.

#include <functional>
#include <optional>

#include "batches/evaluation_batches.h"
#include "model/model.h"
#include "parallel/world.h"
#include "telemetry/step_record.h"

namespace bertpretrain {

/// Returns means over all masked tokens and all sequences of `batches` on all ranks, and over those of each source if there are
/// several, without dropout. The result does not depend on the world size or the micro-batch size (except for the order of
/// summation). All ranks call it together.
/// @param step written into the record
/// @param leave called between batches, equally often on all ranks, so that it may communicate; true stops the evaluation
/// @returns nullopt when `leave` returned true
/// @throws an error of EvaluationBatches::next() on any rank, on all ranks as together() does
std::optional<EvaluationRecord> evaluate(const Model& model, EvaluationBatches& batches, World& world, std::int64_t step,
                                         const std::function<bool()>& leave);
EvaluationRecord evaluate(const Model& model, EvaluationBatches& batches, World& world, std::int64_t step);

}  // namespace bertpretrain
