#pragma once
// A model out of a checkpoint, ready to compute.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "model/bert.h"

namespace bertpretrain {

/// A model that owns its parameters.
struct LoadedModel {
    BertConfig config;
    std::unique_ptr<FlatParameters> parameters;
    std::unique_ptr<Bert> bert;
    std::filesystem::path folder;  ///< the checkpoint that was read
    std::int64_t step = 0;
    std::int64_t sequence_length = 0;  ///< that it was trained with; 0 where it does not say
    std::vector<std::string> missing;  ///< parameters of pooler and heads that it came without
    std::filesystem::path vocabulary;  ///< its vocab.txt; empty where it came without one
    bool cased = false;                ///< whether its words keep case and accents
};

/// @param path a step's folder; a run: then its newest complete checkpoint; or weights of others (find_weights.h) beside a
/// config.json
/// @throws CheckpointError when it is missing, damaged or does not fit its own settings
LoadedModel load_model(const std::filesystem::path& path, at::ScalarType compute_dtype, at::Device device);

/// Room for a model that is only used.
std::unique_ptr<FlatParameters> new_parameters(const BertConfig& config, at::ScalarType compute_dtype, at::Device device);

/// @param prefix of the parameters' names that `what_for` needs, e.g. "bert.pooler."; empty: all
/// @throws CheckpointError when the model came without some of them
void require_parameters(const LoadedModel& model, const std::string& prefix, const std::string& what_for);

}  // namespace bertpretrain
