#pragma once
// Exports a trained model in formats that other programs read.

#include <filesystem>
#include <string>

#include "inference/loaded_model.h"
#include "inference/sentence_settings.h"

namespace bertpretrain {

/// Writes `model` (fp32, on the CPU) under a temporary name, reads it back, compares it with the model and then renames it, so
/// that `output` is never partial.
///
/// "hf"           a folder for transformers' from_pretrained: config.json, model.safetensors, vocab.txt and tokenizer files;
///                post_ln gives BertForPreTraining, pre_ln MegatronBertForPreTraining
/// "sentence-transformers"   a folder for SentenceTransformer(folder), see sentence_folder.h
/// "nvidia"       a file as NVIDIA's BERT scripts save it: {"model": weights by NVIDIA's names}; no optimizer state
/// "state_dict"   a file for torch.load: weights by Hugging Face's names, tied ones under both names
/// "torchscript"  a file for torch.jit.load and torch::jit::load, which needs neither this program nor Hugging Face's code
///
/// The checkpoint's lineage is carried along.
///
/// @param sentences how "sentence-transformers" makes vectors; of no effect for other formats
/// @throws ConfigError when `output` exists, or the format does not support the model
/// @throws CheckpointError when the file cannot be written or differs when read back
void export_model(const LoadedModel& model, const std::string& format, const std::filesystem::path& output,
                  const SentenceSettings& sentences = {});

}  // namespace bertpretrain
