#pragma once
// All ranks were started for one run.

#include <string>

#include "parallel/control_group.h"
#include "plan/experiment_config.h"

namespace bertpretrain {

/// Where hosts have copies of their own of the settings or the shards, one may be another: samples would be taken twice or not at
/// all, and each slice of the weights updated by other rules. What only says where things lie on a host, or what computes there,
/// may differ.
/// @param data  fingerprints of what is trained and evaluated on
/// @throws ConfigError on all ranks, naming a rank that differs from rank 0, and what differs with both values
void refuse_different_runs(ControlGroup& ranks, const ExperimentConfig& experiment, const std::string& data);

}  // namespace bertpretrain
