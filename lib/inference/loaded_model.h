#pragma once
// A model in memory, ready for inference.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/bert.h"
#include "tokens/character_table.h"

namespace bertpretrain {

/// A model that owns its parameters.
struct LoadedModel {
    BertConfig config;
    std::unique_ptr<FlatParameters> parameters;
    std::unique_ptr<Bert> bert;
    std::filesystem::path folder;              ///< of the weights that were read
    std::int64_t step = 0;                     ///< of the checkpoint; 0 for imported weights
    std::int64_t sequence_length = 0;          ///< used in training; 0: unknown
    std::vector<std::string> missing;          ///< parameters of pooler and heads that the files lack
    std::filesystem::path vocabulary;          ///< its vocab.txt, tokenizer.json or tokenizer.model; empty: none
    std::optional<std::int32_t> document_end;  ///< RowFormat::document_end of its training
    std::optional<Casing> casing;              ///< of its tokenizer, where its checkpoint records it
    bool is_foreign = false;                   ///< another program wrote the folder, and its files say how it reads text
};

/// Returns uninitialized parameters without gradients, for inference.
std::unique_ptr<FlatParameters> new_parameters(const BertConfig& config, at::ScalarType compute_dtype, at::Device device);

/// Whether the files lacked a parameter whose name begins with `prefix`, e.g. "cls.predictions.".
bool lacks_parameters(const LoadedModel& model, const std::string& prefix);

/// Checks that the model has all parameters whose names begin with `prefix`, e.g. "bert.pooler."; empty: all parameters.
/// @param what_for what needs them, for the message
/// @throws CheckpointError naming those in LoadedModel::missing
void require_parameters(const LoadedModel& model, const std::string& prefix, const std::string& what_for);

/// Checks that the model has a pooler, with all its parameters. @param what_for what needs it, for the message
/// @throws CheckpointError
void require_pooler(const LoadedModel& model, const std::string& what_for);

}  // namespace bertpretrain
