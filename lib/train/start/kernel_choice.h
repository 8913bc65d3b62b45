#pragma once
// Chooses a run's kernels: proven at each start on a GPU, chosen by time at the first start, kept when the run is resumed.

#include <string>

#include <nlohmann/json.hpp>

#include "kernels/self_proof.h"
#include "parallel/control_group.h"
#include "plan/run_plan.h"

namespace bertpretrain {

/// The chosen kernels and their proof.
struct ChosenKernels {
    nlohmann::json kept;  ///< {operation: kernels}, for the next checkpoint; null where there is nothing to choose
    nlohmann::json rows;  ///< rank 0's proof, a row per operation and kernel set, for the run's events; null: none
    std::string text;     ///< "11 proven, 0 fell back, 0.4 s"; empty where there is nothing to choose
};

/// Returns the shape of the plan's model, for the proof's inputs.
ProofShape proof_shape(const RunPlan& plan);

/// Proves the kernels of each rank's device, chooses the same ones on all ranks and starts to use them. All ranks call it
/// together. If an operation's kernels are wrong, throw or are not supported on some rank, all ranks use the next set that is
/// correct everywhere, with plain ATen as the last resort; a warning names kernels, device and difference. Takes at most three
/// seconds.
/// @throws ConfigError when training.gpu_kernels is "fused" and this program has no kernels for the device
/// @throws NumbersError when it is "fused" and a kernel is wrong, or when a kernel left the device unusable
ChosenKernels choose_kernels(ControlGroup& ranks, const RunPlan& plan, at::Device device);

/// Returns a summary such as "11 proven, 1 fell back, 0.4 s".
std::string summary_of(const Proof& proof);
/// Returns a row per operation and kernel set.
nlohmann::json json_of(const std::vector<ProofRow>& rows);

}  // namespace bertpretrain
