#pragma once
// Writes a model's weights as plain .pt files for Python's torch.load.

#include <filesystem>

#include "inference/load_model.h"

namespace bertpretrain {

/// Writes {name: tensor} with Hugging Face's names, tied tensors under both names; reads the file back and compares it.
/// @throws CheckpointError when the file cannot be written or differs when read back
void write_state_dict(const LoadedModel& model, const std::filesystem::path& file);

/// Writes NVIDIA's ckpt_N.pt as its fine-tuning scripts read it: {"model": {name: tensor}, "epoch": 0, "files": []}, without
/// optimizer state. @throws CheckpointError as above; ConfigError for pre_ln, which these scripts do not support
void write_nvidia(const LoadedModel& model, const std::filesystem::path& file);

}  // namespace bertpretrain
