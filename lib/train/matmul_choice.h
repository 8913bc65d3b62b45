#pragma once
// Which library multiplies in a run: found once, kept by every resume.

#include <string>

#include <nlohmann/json.hpp>

#include "parallel/control_group.h"
#include "train/experiment_config.h"

namespace bertpretrain {

/// Decides it, the same on all ranks, and puts it to use. Rank 0 measures while the others wait, where nothing is kept.
/// @param kept the checkpoint's: {shape: library}; null: there is none
/// @returns what the next checkpoint keeps; null where it does not matter (fp32, GPUs, CPUs without products of bf16) and
///     nothing was kept
/// @throws CheckpointError where what was kept names no product
nlohmann::json choose_matmul_libraries(ControlGroup& ranks, const ExperimentConfig& experiment, bool on_cpu,
                                       const nlohmann::json& kept);

/// "onednn, but mkl for weight_gradient 4096x1024"; empty for null.
std::string matmul_text(const nlohmann::json& products);

}  // namespace bertpretrain
