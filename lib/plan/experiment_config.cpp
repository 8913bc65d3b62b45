#include "plan/experiment_config.h"

#include <nlohmann/json.hpp>

#include "config/override.h"
#include "config/read.h"
#include "core/error.h"

namespace bertpretrain {
namespace {

/// A lost peer is to be named by who waits for it, before the watchdog ends the run without knowing why.
void check_patience(const std::string& file, const WatchdogConfig& watchdog, const ParallelConfig& parallel) {
    const auto require = [&](const char* name, double seconds, const char* other, double timeout) {
        if (seconds == 0 || seconds > timeout) return;
        throw ConfigError(concat(file, ": watchdog.", name, " = ", seconds, " is not above parallel.", other, " = ", timeout,
                                 "\n  do: raise the first, or lower the second"));
    };
    require("communication_seconds", watchdog.communication_seconds, "timeout_seconds", parallel.timeout_seconds);
    require("first_step_seconds", watchdog.first_step_seconds, "first_step_timeout_seconds", parallel.first_step_timeout_seconds);
}

/// Notes the path of every value in `settings`, which has not been checked yet.
void add_origins(Origins& origins, const nlohmann::json& settings, Origin origin, const std::string& section = "") {
    if (!settings.is_object()) return;
    for (const auto& [name, value] : settings.items()) {
        if (value.is_object()) add_origins(origins, value, origin, section + name + ".");
        else origins[section + name] = origin;
    }
}

void check_data(const ExperimentConfig& experiment, const std::string& file) {
    const DataConfig& data = experiment.data;
    if (data.sequence_length > experiment.model.max_position_embeddings)
        throw ConfigError(concat(file, ": data.sequence_length = ", data.sequence_length,
                                 " is more than model.max_position_embeddings = ", experiment.model.max_position_embeddings));
    if (data.masking == "as_stored" && (data.whole_word_masking || data.masked_lm_prob != DataConfig().masked_lm_prob))
        throw ConfigError(concat(file, ": data.masked_lm_prob and data.whole_word_masking change nothing while data.masking",
                                 " is \"as_stored\"\n  do: set data.masking to \"dynamic\", or leave them out"));
}

void check_initialization(const InitializationConfig& initialization, const std::string& file) {
    if (!initialization.init_from &&
        (initialization.init_missing != "refuse" || initialization.init_unexpected != "refuse" || initialization.init_moments))
        throw ConfigError(concat(file, ": the settings of initialization change nothing while init_from is null",
                                 "\n  do: set initialization.init_from, or leave them out"));
}

void check_device_batch(const ExperimentConfig& experiment, const std::string& file) {
    const BatchConfig& batch = experiment.batch;
    const std::int64_t at_once = batch.pass_size();
    if (at_once % batch.micro_batch_size != 0)
        throw ConfigError(concat(file, ": batch.device_micro_batch = ", at_once,
                                 " is no multiple of batch.micro_batch_size = ", batch.micro_batch_size));
    if (at_once != batch.micro_batch_size && experiment.training.loss_mean != "global")
        throw ConfigError(concat(file, ": batch.device_micro_batch = ", at_once,
                                 " merges micro-batches, of which each has its own ", "mean with training.loss_mean = \"",
                                 experiment.training.loss_mean,
                                 "\"\n  do: set loss_mean to \"global\", or leave device_micro_batch out"));
}

void check_gradients(const ExperimentConfig& experiment, const std::string& file) {
    if (experiment.parallel.gradient_dtype == "fp32") return;
    if (experiment.parallel.zero_stage == 0 || experiment.training.precision == "fp32")
        throw ConfigError(concat(file, ": parallel.gradient_dtype = \"bf16\" with parallel.zero_stage = ",
                                 experiment.parallel.zero_stage, " and training.precision = \"", experiment.training.precision,
                                 "\"\n  do: set zero_stage to 1 and precision to \"bf16\", or leave gradient_dtype out"));
}

}  // namespace

RequestedExperiment request_experiment(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
    nlohmann::json settings = load_settings(file);
    RequestedExperiment requested;
    add_origins(requested.origins, settings, Origin::file);
    nlohmann::json given = nlohmann::json::object();
    apply_overrides(given, overrides);
    add_origins(requested.origins, given, Origin::command_line);
    apply_overrides(settings, overrides);
    requested.settings = read_config<ExperimentConfig>(settings, file.string());
    const ExperimentConfig& experiment = requested.settings;
    Refusals refusals;
    refusals.attempt([&] { check_bert(experiment.model); });
    refusals.attempt([&] { check_optimizer(experiment.optimizer); });
    refusals.attempt([&] { check_schedule(experiment.schedule); });
    refusals.attempt([&] { check_data(experiment, file.string()); });
    refusals.attempt([&] { check_device_batch(experiment, file.string()); });
    refusals.attempt([&] { check_patience(file.string(), experiment.watchdog, experiment.parallel); });
    refusals.attempt([&] { check_initialization(experiment.initialization, file.string()); });
    refusals.attempt([&] { check_gradients(experiment, file.string()); });
    refusals.throw_if_any();
    return requested;
}

ExperimentConfig load_experiment(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
    return request_experiment(file, overrides).settings;
}

}  // namespace bertpretrain
