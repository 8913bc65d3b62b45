#pragma once
// Checks that all ranks were started for one run. Hosts may have their own copies of settings and shards. If a copy differs,
// samples would be used twice or not at all, and slices of the weights would be updated by different rules.

#include <string>

#include "parallel/control_group.h"
#include "plan/run_plan.h"

namespace bertpretrain {

/// Compares every value of the plan with rank 0's, except those in which hosts may differ (a list in same_run.cpp). All ranks
/// call it together, before they measure anything.
/// @throws ConfigError on all ranks, with each setting in which the lowest such rank differs, both values and both origins
void refuse_different_plans(ControlGroup& ranks, const RunPlan& plan);

/// Compares the data with rank 0's. All ranks call it together.
/// @param fingerprints of what this rank trains and evaluates on
/// @throws ConfigError on all ranks, with the fingerprints of rank 0 and of the lowest rank that differs
void refuse_different_data(ControlGroup& ranks, const std::string& fingerprints);

}  // namespace bertpretrain
