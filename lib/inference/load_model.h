#pragma once
// Loads a model from files for inference.

#include <filesystem>

#include "inference/loaded_model.h"

namespace bertpretrain {

/// Loads a model and chooses its kernels (proven_kernels.h).
/// @param path a step's folder, a run (for its newest complete checkpoint), or other programs' weights (find_weights.h) with a
/// config.json
/// @throws CheckpointError when the model is missing or damaged or does not match its own settings
LoadedModel load_model(const std::filesystem::path& path, at::ScalarType compute_dtype, at::Device device);

}  // namespace bertpretrain
