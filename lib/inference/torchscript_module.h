#pragma once
// Exports a BERT as TorchScript, which runs wherever torch does, without this program. Needs no Python.

#include <filesystem>
#include <map>
#include <string>

#include "model/architecture.h"

namespace bertpretrain {

/// Writes the model to a file for torch.jit.load and torch::jit::load, with the methods of torchscript_source.h and fp32
/// parameters under their names in the checkpoint.
/// @param has_heads whether to write the parameters and methods of the pretraining heads
/// @param extra_files name -> text of extra files stored in it (torch.jit.load's _extra_files)
void write_torchscript(const std::filesystem::path& file, const ModelConfig& config, const FlatParameters& parameters,
                       const std::map<std::string, std::string>& extra_files, bool has_heads = true);

/// Loads such a file and compares it with `model` (fp32, on the CPU) on random texts of different lengths.
/// @throws CheckpointError when hidden states, pooled vectors or logits differ by more than `torchscript_tolerance` times the
/// largest absolute value (at least 1)
void check_torchscript(const std::filesystem::path& file, const Model& model, const ModelConfig& config, bool has_heads = true);

inline constexpr double torchscript_tolerance = 1e-4;

}  // namespace bertpretrain
