#pragma once
// A BERT that runs wherever torch does, without our code: TorchScript, made here without Python.

#include <filesystem>
#include <map>
#include <string>

#include "model/bert.h"

namespace bertpretrain {

/// Writes the model to a file for torch.jit.load and torch::jit::load: the methods of torchscript_source.h, parameters under
/// their names in the checkpoint, fp32.
/// @param extra_files text that travels in the file, by name (torch.jit.load's _extra_files)
void write_torchscript(const std::filesystem::path& file, const BertConfig& config, const FlatParameters& parameters,
                       const std::map<std::string, std::string>& extra_files);

/// Loads such a file and runs it on ragged random texts beside `bert`, which is fp32 on the CPU.
/// @throws CheckpointError where hidden states, pooled vectors or logits are further apart than `torchscript_tolerance`
/// times the largest of them
void check_torchscript(const std::filesystem::path& file, const Bert& bert);

inline constexpr double torchscript_tolerance = 1e-4;

}  // namespace bertpretrain
