#pragma once
// Which kernels a run computes with: proven at each start on a GPU, chosen by time at the first start, kept by every resume.

#include <string>

#include <nlohmann/json.hpp>

#include "kernels/self_proof.h"
#include "parallel/control_group.h"
#include "plan/run_plan.h"

namespace bertpretrain {

/// What the start has found.
struct ChosenKernels {
    nlohmann::json kept;  ///< {operation: kernels}, for the next checkpoint; null where there is nothing to choose
    nlohmann::json rows;  ///< rank 0's proof, a row per operation and set of kernels, for the run's events; null: none
    std::string text;     ///< "11 proven, 0 fell back, 0.4 s"; empty where there is nothing to choose
};

/// The shape of the plan's model, for the proof's inputs.
ProofShape proof_shape(const RunPlan& plan);

/// Proves the kernels of each rank's device, chooses the same ones on all ranks and puts them to use. An operation whose kernels
/// are wrong, throw or are not supported on some rank runs those of the next set that are correct on all of them, plain ATen at
/// last; a warning names the kernels, the device and the difference. Takes at most three seconds.
/// @throws ConfigError where training.gpu_kernels is "fused" and this program has no kernels for the device
/// @throws NumbersError where it is "fused" and one of them is wrong, or where the device runs nothing any more
ChosenKernels choose_kernels(ControlGroup& ranks, const RunPlan& plan, at::Device device);

/// "11 proven, 1 fell back, 0.4 s".
std::string summary_of(const Proof& proof);
/// A row per operation and set of kernels.
nlohmann::json json_of(const std::vector<ProofRow>& rows);

}  // namespace bertpretrain
