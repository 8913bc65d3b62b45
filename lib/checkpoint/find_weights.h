#pragma once
// Which files a path to somebody's weights means.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "parallel/control_group.h"

namespace bertpretrain {

struct FoundWeights {
    enum class Kind { safetensors, pt };

    Kind kind = Kind::pt;
    std::string what;                                 ///< "Hugging Face's folder", for people
    std::vector<std::filesystem::path> files;         ///< one, or the shards that an index lists
    std::optional<std::filesystem::path> index;       ///< *.index.json
    std::optional<std::filesystem::path> checkpoint;  ///< where they are a checkpoint of this program: its folder
    std::optional<std::filesystem::path> model;       ///< a config.json, or the checkpoint's settings.json
    std::optional<std::filesystem::path> vocabulary;  ///< the vocab.txt beside them
};

/// A file (.pt, .bin, .safetensors, *.index.json), or a folder: a step or run of this program, Hugging Face's
/// (model.safetensors, pytorch_model.bin, or the index of either), DeepSpeed's (latest, mp_rank_00_model_states.pt), NVIDIA's
/// output (the newest ckpt_N.pt). @throws CheckpointError listing what was looked for
FoundWeights find_weights(const std::filesystem::path& path);

/// The path with which find_weights() gives every rank the checkpoint that rank 0 found: in a run that is under way the newest
/// may be another one a moment later. Other weights are found by the path as it is.
/// @throws CheckpointError on all ranks
std::filesystem::path found_by_first(ControlGroup& ranks, const std::filesystem::path& path);

}  // namespace bertpretrain
