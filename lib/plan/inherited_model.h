#pragma once
// The settings of "model" that an experiment leaves out and that the weights of initialization.init_from state.

#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace bertpretrain {

struct InheritedModel {
    std::vector<std::string> paths;  ///< the settings that were added: "model.hidden_size"
    std::int64_t vocab_size = 0;     ///< rows of the weights' word embedding; 0: unknown
    bool is_of_run = false;          ///< the weights are a checkpoint of this program
    std::exception_ptr unread;       ///< why the weights' model could not be read; null: it was read, or is not needed
};

/// Adds each setting that the section "model" leaves out, with the value that the model of initialization.init_from has, as its
/// config.json or settings.json states it. vocab_size stays as it is, because it also depends on the shards' vocabulary.
/// Adds nothing without init_from, for weights without such a file, and to a section that names another model_type. Reads nothing
/// if the section is complete. If the model cannot be read, gives the section the first model_type that has all of its settings.
/// @param settings of the experiment, not checked yet
InheritedModel inherit_model(nlohmann::json& settings);

}  // namespace bertpretrain
