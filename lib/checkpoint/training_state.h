#pragma once
// All that a checkpoint holds, as plain data: whoever trains fills it in, and nothing here knows how.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace bertpretrain {

struct TensorDescription {
    std::string name;
    std::vector<std::int64_t> shape;
};

/// A contiguous part of one flattened fp32 tensor in this process's memory.
struct TensorPiece {
    std::size_t tensor = 0;  ///< index in TensorSet::tensors
    std::int64_t first_element = 0;
    const float* data = nullptr;
    std::int64_t elements = 0;
};

/// Tensors of the whole model, the same on every rank, and the parts of them that this rank holds.
struct TensorSet {
    std::vector<TensorDescription> tensors;
    std::vector<TensorPiece> pieces;
};

/// A second name for a tensor that is saved once: {"cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight"}.
struct TensorAlias {
    std::string alias;
    std::string name;
};

struct TrainingState {
    std::int64_t step = 0;                     ///< completed optimizer updates
    TensorSet parameters;                      ///< HF names; fp32 master values
    std::vector<TensorAlias> aliases;          ///< of parameters, for readers that expect tied tensors under both names
    std::map<std::string, TensorSet> moments;  ///< "exp_avg", "exp_avg_sq": by parameter name
    nlohmann::json progress;                   ///< whatever the trainer needs to go on: becomes training_state.json
    nlohmann::json settings;                   ///< of the run, complete: becomes settings.json
    std::filesystem::path vocabulary;          ///< copied as vocab.txt; may be empty
};

}  // namespace bertpretrain
