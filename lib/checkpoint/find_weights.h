#pragma once
// Finds the weight files that a path stands for.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "parallel/control_group.h"

namespace bertpretrain {

struct FoundWeights {
    enum class Kind { safetensors, pt };

    Kind kind = Kind::pt;
    std::string what;                                 ///< description for messages, as in "a folder of Hugging Face"
    std::vector<std::filesystem::path> files;         ///< one file, or the shards that an index lists
    std::optional<std::filesystem::path> index;       ///< *.index.json
    std::optional<std::filesystem::path> checkpoint;  ///< the folder, for a checkpoint of this program
    std::optional<std::filesystem::path> model;       ///< a config.json, or the checkpoint's settings.json
    std::optional<std::filesystem::path> vocabulary;  ///< the file with the tokens next to the weights
};

/// Finds the weights at `path`: a file (.pt, .bin, .safetensors, *.index.json), or a folder of one of these kinds: a step or run
/// of this program; Hugging Face's (model.safetensors, pytorch_model.bin, or the index of either); DeepSpeed's (latest,
/// mp_rank_00_model_states.pt); NVIDIA's output (the newest ckpt_N.pt). @throws CheckpointError listing what was looked for
FoundWeights find_weights(const std::filesystem::path& path);

/// Returns the path with which find_weights() finds rank 0's checkpoint on every rank: while a run is being trained, its newest
/// checkpoint may change between two calls. For other weights, returns `path`. All ranks call it together.
/// @throws CheckpointError on all ranks
std::filesystem::path found_by_first(ControlGroup& ranks, const std::filesystem::path& path);

}  // namespace bertpretrain
