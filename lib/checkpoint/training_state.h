#pragma once
// The content of a checkpoint as plain data, filled in by the trainer.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {

struct TensorDescription {
    std::string name;
    std::vector<std::int64_t> shape;
};

/// A contiguous part of one flattened fp32 tensor. Does not own the data.
struct TensorPiece {
    std::size_t tensor = 0;  ///< index in TensorSet::tensors
    std::int64_t first_element = 0;
    const float* data = nullptr;
    std::int64_t elements = 0;
};

/// The tensors of the whole model, the same on every rank, and the parts of them that this rank holds.
struct TensorSet {
    std::vector<TensorDescription> tensors;
    std::vector<TensorPiece> pieces;
};

/// A second name for a tensor that is saved once: that of a decoder, and that of the word embedding to which it is tied.
struct TensorAlias {
    std::string alias;
    std::string name;
};

struct TrainingState {
    std::int64_t step = 0;                            ///< completed optimizer updates
    TensorSet parameters;                             ///< fp32 master weights, with Hugging Face's names
    std::vector<TensorAlias> aliases;                 ///< of parameters, for readers that expect tied tensors under both names
    std::map<std::string, TensorSet> moments;         ///< "exp_avg", "exp_avg_sq": tensors with the parameters' names
    nlohmann::json progress;                          ///< the trainer's state for resuming; written as training_state.json
    nlohmann::json settings;                          ///< all settings of the run; written as settings.json
    std::shared_ptr<const TokenizerFile> vocabulary;  ///< null: none
};

}  // namespace bertpretrain
