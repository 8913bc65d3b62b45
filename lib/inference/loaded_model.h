#pragma once
// Loads a model from files for inference.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "model/architecture.h"
#include "tokens/unicode/character_table.h"

namespace bertpretrain {

/// A model in memory, with its parameters.
struct LoadedModel {
    ModelConfig config;
    std::unique_ptr<FlatParameters> parameters;
    std::unique_ptr<Model> model;
    std::filesystem::path folder;              ///< of the weights that were read
    std::int64_t step = 0;                     ///< of the checkpoint; 0 for imported weights
    std::int64_t sequence_length = 0;          ///< used in training; 0: unknown
    std::vector<ParameterSpec> missing;        ///< parameters of pooler and heads that the files lack
    std::filesystem::path vocabulary;          ///< its vocab.txt, tokenizer.json or tokenizer.model; empty: none
    std::optional<std::int32_t> document_end;  ///< RowFormat::document_end of its training
    std::optional<Casing> casing;              ///< of its tokenizer, where its checkpoint records it
    bool is_foreign = false;                   ///< another program wrote the folder, and its files say how it reads text

    /// Whether the files lacked the parameter of this name, or one of this part.
    bool lacks(const std::string& name) const;
    bool lacks(ModelPart part) const;
};

/// Loads a model and chooses its kernels with use_proven_kernels().
/// @param path a step's folder, a run (for its newest complete checkpoint), or other programs' weights (find_weights.h) with a
/// config.json. Of these, tensors that a class adds are ignored; parameters of pooler and heads that they lack are zero and
/// listed in `missing`.
/// @throws CheckpointError when the model is missing or damaged or does not match its own settings, or lacks tensors of the
/// encoder
LoadedModel load_model(const std::filesystem::path& path, at::ScalarType compute_dtype, at::Device device);

/// Returns the length of texts, in tokens with the special ones, that the model was trained on: its run's sequence length where
/// the checkpoint records it, else its number of positions.
std::int64_t trained_length(const LoadedModel& model);

/// Checks that the model has all parameters, or all of a part. @param what_for what needs them, for the message
/// @throws CheckpointError naming those in LoadedModel::missing
void require_all(const LoadedModel& model, const std::string& what_for);
void require_part(const LoadedModel& model, ModelPart part, const std::string& what_for);

/// Compares the GPU's kernels with plain ATen on that GPU, and uses for each operation the first kernel set that is correct. Logs
/// a warning for those that are not. Takes about a second; does nothing on a CPU, where there is nothing to choose.
/// @throws NumbersError when a kernel left the device in a state in which nothing runs any more
void use_proven_kernels(const ModelConfig& model, std::int64_t longest_sequence, at::ScalarType compute_dtype, at::Device device);

}  // namespace bertpretrain
