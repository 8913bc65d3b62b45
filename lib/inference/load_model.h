#pragma once
// A model out of a checkpoint, ready to compute.

#include <filesystem>
#include <memory>

#include "model/bert.h"

namespace bertpretrain {

/// A model that owns its parameters.
struct LoadedModel {
    BertConfig config;
    std::unique_ptr<FlatParameters> parameters;
    std::unique_ptr<Bert> bert;
    std::filesystem::path folder;  ///< the checkpoint that was read
    std::int64_t step = 0;
    std::int64_t sequence_length = 0;  ///< that it was trained with
};

/// @param checkpoint a step's folder, or a run: then its newest complete checkpoint
/// @throws CheckpointError when it is missing, damaged or does not fit its own settings
LoadedModel load_model(const std::filesystem::path& checkpoint, at::ScalarType working, at::Device device);

}  // namespace bertpretrain
