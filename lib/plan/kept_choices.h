#pragma once
// What a checkpoint keeps of a run's choices of kernels and matmul libraries, as JSON and as values.

#include <string>

#include <nlohmann/json.hpp>

#include "plan/run_plan.h"

namespace bertpretrain {

/// {"forward 4096x1024": "mkl", ...}.
nlohmann::json to_json(const MatmulLibraries& libraries);
/// The inverse; empty for null. @throws CheckpointError where it names no matmul or no library
MatmulLibraries read_matmul_libraries(const nlohmann::json& kept);
/// What a checkpoint keeps of a plan: the choice, else what an earlier checkpoint kept; null where there is neither.
nlohmann::json kept_matmul(const ComputePlan& compute);
/// For people: "onednn, but mkl for weight_gradient 4096x1024".
std::string matmul_text(const MatmulLibraries& libraries);

/// {operation: set of kernels}; empty for null. @throws CheckpointError where a value is no text
KernelChoice read_kernel_choice(const nlohmann::json& kept);

}  // namespace bertpretrain
