#pragma once
// Plain .pt files of a model's weights, for Python's torch.load.

#include <filesystem>

#include "inference/load_model.h"

namespace bertpretrain {

/// {name: tensor} under Hugging Face's names, tied tensors under both of theirs. Read back and compared.
/// @throws CheckpointError when it cannot be written or reads back otherwise
void write_state_dict(const LoadedModel& model, const std::filesystem::path& file);

/// NVIDIA's ckpt_N.pt as its fine-tuning scripts read it: {"model": {name: tensor}, "epoch": 0, "files": []}. It holds no
/// optimizer state. @throws as above; ConfigError for pre_ln, which their scripts do not know
void write_nvidia(const LoadedModel& model, const std::filesystem::path& file);

}  // namespace bertpretrain
