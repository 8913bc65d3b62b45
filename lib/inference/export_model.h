#pragma once
// A trained model in the formats that others read.

#include <filesystem>
#include <string>

#include "inference/load_model.h"

namespace bertpretrain {

/// Writes `model` (fp32, on the CPU) and reads it back before it gets its name: what appears is whole and equal.
///
/// "hf"           a folder for transformers' from_pretrained: config.json, model.safetensors, vocab.txt and tokenizer files;
///                post_ln is BertForPreTraining, pre_ln MegatronBertForPreTraining
/// "nvidia"       a file as NVIDIA's BERT scripts save it: {"model": weights by their names}; no optimizer
/// "state_dict"   a file for torch.load: weights by Hugging Face's names, tied ones under both
/// "torchscript"  a file for torch.jit.load and torch::jit::load, which needs no code of ours or Hugging Face's
///
/// @throws ConfigError when `output` exists, or the format cannot hold the model
/// @throws CheckpointError when it cannot be written, or does not read back as it should
void export_model(const LoadedModel& model, const std::string& format, const std::filesystem::path& output);

}  // namespace bertpretrain
