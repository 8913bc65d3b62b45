#pragma once
// Exports a model for sentence-transformers, and decides how its vectors are made.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "inference/loaded_model.h"
#include "inference/sentence_settings.h"

namespace bertpretrain {

/// Returns what the model's folder says (read_sentence_settings()), or the defaults, with `max_length` set: max_seq_length of a
/// sentence-transformers folder, else the tokenizer's length, else trained_length(); at most the model's positions.
/// @param vectors,normalize what was asked for instead; empty: nothing
/// @param tokenizer_length ModelTokenizer::max_length
/// @throws ConfigError where the folder pools in a way that is not supported and `vectors` is empty; also errors of
/// read_sentence_settings()
SentenceSettings decide_sentence_settings(const LoadedModel& model, const std::string& vectors, std::optional<bool> normalize,
                                          std::optional<std::int64_t> tokenizer_length);

/// Creates a folder that SentenceTransformer(folder) loads without warnings, and whose vectors are those of `embed`: the files of
/// write_hf_folder() with encoder and pooler alone, modules.json, sentence_bert_config.json, config_sentence_transformers.json,
/// 1_Pooling/config.json, and 2_Normalize where vectors have length 1. Reads the settings back and compares them.
/// @param settings with max_length, and "mean" or "cls" as pooling
/// @throws ConfigError for a model without a tokenizer, or of a class that is not part of transformers; CheckpointError or
/// DataError when a file cannot be written or differs
void write_sentence_folder(const LoadedModel& model, const SentenceSettings& settings, const std::filesystem::path& folder);

}  // namespace bertpretrain
