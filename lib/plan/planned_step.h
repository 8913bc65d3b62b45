#pragma once
// A run's plan as the model of a step's duration takes it (operations/step_model.h).

#include "operations/step_model.h"
#include "plan/run_plan.h"

namespace bertpretrain {

/// Assumes that every sequence has data.sequence_length tokens and that buckets are sent while backward goes on.
PlannedStep planned_step(const RunPlan& plan);

}  // namespace bertpretrain
