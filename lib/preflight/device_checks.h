#pragma once
// Judges the devices of all ranks: correct results, the GPU's own error counters, kernels, and ranks that are slower than others.

#include <string>
#include <vector>

#include <c10/core/Device.h>

#include "kernels/self_proof.h"
#include "operations/device_check.h"
#include "operations/findings.h"

namespace bertpretrain {

/// How fast each rank runs an operation.
struct OperationRates {
    std::string name, unit;
    std::vector<double> of_rank;
};

/// Returns a summary of check_device()'s results.
/// @throws NumbersError, which names each operation that was wrong in any repetition
std::string judge_operations(const std::vector<CheckedOperation>& operations, std::int64_t repetitions);

/// Returns the GPU's state in words. @throws NumbersError when its memory has errors that it could not correct
std::string judge_gpu(at::Device device);

/// Returns a summary of the proof, and a line for each kernel that is wrong. A wrong kernel does not stop a run: plain ATen
/// computes instead, which takes longer.
std::string describe_proof(const Proof& proof);

/// Gathers the rates of all ranks; all ranks call it together. Empty where a rank has no results, because its check failed.
std::vector<OperationRates> gather_rates(ControlGroup& ranks, const std::vector<CheckedOperation>& operations);

/// Adds a failure for each operation and rank whose rate is below `share` of the ranks' median.
void report_slow_ranks(Findings& findings, const std::vector<OperationRates>& rates, double share);

}  // namespace bertpretrain
