#include "plan/experiment_config.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "config/override.h"
#include "config/read.h"
#include "core/error.h"
#include "plan/inherited_model.h"
#include "storage/object_url.h"

namespace bertpretrain {
namespace {

/// The timeout of communication must come first: its error names the lost rank, and the watchdog's does not.
void check_timeouts(const std::string& file, const WatchdogConfig& watchdog, const ParallelConfig& parallel) {
    const auto require = [&](const char* name, double seconds, const char* other, double timeout) {
        if (seconds == 0 || seconds > timeout) return;
        throw ConfigError(concat(file, ": watchdog.", name, " = ", seconds, ": must be above parallel.", other, " = ", timeout,
                                 "\n  do: raise the first, or lower the second"));
    };
    require("communication_seconds", watchdog.communication_seconds, "timeout_seconds", parallel.timeout_seconds);
    require("first_step_seconds", watchdog.first_step_seconds, "first_step_timeout_seconds", parallel.first_step_timeout_seconds);
}

/// Records the path of every value in `settings`, which are not checked yet.
void add_origins(Origins& origins, const nlohmann::json& settings, Origin origin, const std::string& section = "") {
    if (!settings.is_object()) return;
    for (const auto& [name, value] : settings.items()) {
        if (value.is_object()) add_origins(origins, value, origin, section + name + ".");
        else origins[section + name] = origin;
    }
}

void check_length(const ExperimentConfig& experiment, const std::string& file) {
    const std::int64_t length = experiment.data.sequence_length, longest = shape_of(experiment.model).longest_sequence;
    if (length > longest)
        throw ConfigError(
            concat(file, ": data.sequence_length = ", length, ": must be at most model.max_position_embeddings = ", longest));
}

void check_spans(const DataConfig& data, const std::string& file) {
    const std::string setting = concat(file, ": data.mask_span = ", data.mask_span);
    if (data.mask_span == 1 && data.mask_span_lengths != SpanLengths::fixed)
        throw ConfigError(concat(file, ": data.mask_span_lengths has no effect with data.mask_span = 1",
                                 "\n  do: set data.mask_span to the length of the longest span"));
    if (data.mask_span > 1 && data.mask_special_tokens)
        throw ConfigError(concat(setting, " and data.mask_special_tokens is true, but [CLS] and [SEP] belong to no span",
                                 "\n  do: set mask_span to 1, or mask_special_tokens to false"));
    if (const double masked = data.masked_lm_prob * static_cast<double>(data.sequence_length);
        data.mask_span_lengths == SpanLengths::fixed &&
        static_cast<double>(data.mask_span) > std::max(1.0, std::nearbyint(masked)))
        throw ConfigError(concat(setting, ": is longer than the ", std::max(1.0, std::nearbyint(masked)),
                                 " tokens that are masked in a row (data.masked_lm_prob of data.sequence_length)",
                                 "\n  do: set a shorter span, or a larger masked_lm_prob"));
}

void check_data(const DataConfig& data, const std::string& file) {
    if (data.masking == Masking::as_stored && (data.whole_word_masking || data.mask_special_tokens || data.mask_span != 1 ||
                                               data.masked_lm_prob != DataConfig().masked_lm_prob))
        throw ConfigError(concat(
            file, ": data.masked_lm_prob, data.whole_word_masking, data.mask_span and data.mask_special_tokens ",
            "have no effect with data.masking = \"as_stored\"", "\n  do: set data.masking to \"dynamic\", or leave them out"));
    if (data.whole_word_masking && data.mask_special_tokens)
        throw ConfigError(concat(file,
                                 ": data.whole_word_masking and data.mask_special_tokens are both true, but [CLS] and [SEP] ",
                                 "belong to no word\n  do: set one of them to false"));
    if (data.masking == Masking::dynamic) check_spans(data, file);
}

void check_initialization(const InitializationConfig& initialization, const std::string& file) {
    if (!initialization.init_from &&
        (initialization.init_missing != InitMissing::refuse || initialization.init_unexpected != InitUnexpected::refuse ||
         initialization.init_smaller != InitSmaller::refuse || initialization.init_moments ||
         !initialization.init_changes.empty()))
        throw ConfigError(concat(file, ": the settings of initialization have no effect while init_from is null",
                                 "\n  do: set initialization.init_from, or leave them out"));
}

void check_device_batch(const ExperimentConfig& experiment, const std::string& file) {
    const BatchConfig& batch = experiment.batch;
    const std::int64_t at_once = batch.pass_size();
    if (at_once % batch.micro_batch_size != 0)
        throw ConfigError(concat(file, ": batch.device_micro_batch = ", at_once,
                                 ": must be a multiple of batch.micro_batch_size = ", batch.micro_batch_size));
    if (at_once != batch.micro_batch_size && experiment.training.loss_mean != LossMean::global)
        throw ConfigError(
            concat(file, ": batch.device_micro_batch = ", at_once, " merges micro-batches, but with training.loss_mean = \"",
                   name_of(experiment.training.loss_mean),
                   "\" each has a mean of its own\n  do: set loss_mean to \"global\", or leave device_micro_batch out"));
}

void check_warmup(const BatchConfig& batch, const std::string& file) {
    if (batch.warmup_steps > 0 ? batch.warmup_from > 0 && batch.warmup_increment > 0
                               : batch.warmup_from == 0 && batch.warmup_increment == 0)
        return;
    throw ConfigError(concat(file, ": batch.warmup_steps = ", batch.warmup_steps, ", warmup_from = ", batch.warmup_from,
                             " and warmup_increment = ", batch.warmup_increment, ": a batch warm-up needs all three",
                             "\n  do: set them all, or none"));
}

void check_gradients(const ExperimentConfig& experiment, const std::string& file) {
    if (experiment.parallel.gradient_dtype == Precision::fp32) return;
    if (experiment.parallel.zero_stage == 0 || experiment.training.precision == Precision::fp32)
        throw ConfigError(
            concat(file, ": parallel.gradient_dtype = \"bf16\" with parallel.zero_stage = ", experiment.parallel.zero_stage,
                   " and training.precision = \"", name_of(experiment.training.precision),
                   "\": it needs zero_stage 1 and precision \"bf16\"\n  do: set these, or leave gradient_dtype out"));
}

void check_residual(const TrainingConfig& training, const std::string& file) {
    if (training.residual_dtype == Precision::bf16 && training.precision != Precision::bf16)
        throw ConfigError(concat(file, ": training.residual_dtype = \"bf16\" with training.precision = \"",
                                 name_of(training.precision),
                                 "\": it needs precision \"bf16\"\n  do: set that, or leave residual_dtype out"));
}

void check_fp8(const ExperimentConfig& experiment, const std::string& file) {
    if (!experiment.training.fp8_matmuls) return;
    if (experiment.training.precision != Precision::bf16)
        throw ConfigError(concat(file, ": training.fp8_matmuls with training.precision = \"",
                                 name_of(experiment.training.precision),
                                 "\": it needs precision \"bf16\"\n  do: set that, or leave fp8_matmuls out"));
    const ModelShape shape = shape_of(experiment.model);
    constexpr std::int64_t multiple = 16;  // of cuBLAS
    if (shape.hidden_size % multiple != 0 || shape.intermediate_size % multiple != 0)
        throw ConfigError(concat(file, ": training.fp8_matmuls with model.hidden_size = ", shape.hidden_size,
                                 " and model.intermediate_size = ", shape.intermediate_size, ": both must be multiples of ",
                                 multiple, "\n  do: choose such sizes, or leave fp8_matmuls out"));
}

void check_evaluation(const ExperimentConfig& experiment, const std::string& file) {
    if (experiment.evaluation.every_steps > 0) return;
    const auto refuse = [&](std::string_view setting) {
        throw ConfigError(concat(file, ": ", setting, " has no effect with evaluation.every_steps = 0",
                                 "\n  do: set evaluation.every_steps, or leave it out"));
    };
    if (experiment.evaluation.probe) refuse("evaluation.probe");
    if (experiment.schedule.stop_at.held_out_mlm_loss > 0) refuse("schedule.stop_at.held_out_mlm_loss");
}

void check_mirror(const CheckpointConfig& checkpoint) {
    if (checkpoint.mirror) parse_object_url(*checkpoint.mirror, "checkpoint.mirror");
}

}  // namespace

RequestedExperiment request_experiment(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
    const nlohmann::json settings = load_settings(file);
    if (settings.is_object() && settings.contains("phases"))
        throw ConfigError(concat(file.string(),
                                 ": has phases, and this command takes one experiment\n  do: name the settings.json ",
                                 "of a phase, RUN/phases/NN_NAME/settings.json, or a file without phases"));
    return request_experiment(settings, file.string(), overrides);
}

RequestedExperiment request_experiment(nlohmann::json settings, const std::string& file,
                                       const std::vector<std::string>& overrides, const NamePlace& place) {
    const auto renamed = renamed_settings<ExperimentConfig>();
    RequestedExperiment requested;
    add_origins(requested.origins, settings, Origin::file);
    for (const auto& [old_path, path] : renamed)
        if (auto old = requested.origins.extract(old_path)) requested.origins[path] = old.mapped();
    nlohmann::json given = nlohmann::json::object();
    apply_overrides(given, overrides, renamed);
    add_origins(requested.origins, given, Origin::command_line);
    apply_overrides(settings, overrides, renamed);
    const InheritedModel inherited = inherit_model(settings);
    for (const std::string& path : inherited.paths) requested.origins[path] = Origin::init_from;
    requested.vocab_size_of_weights = inherited.vocab_size;
    requested.unread_model = inherited.unread;
    requested.has_model_of_run = inherited.is_of_run;
    const auto where = [&](const std::string& path) {
        if (value_at(given, path) != nullptr) return "--set " + path;
        return place ? place(path) : file + ": " + path;
    };
    requested.settings = read_config<ExperimentConfig>(settings, file, where);
    const ExperimentConfig& experiment = requested.settings;
    Refusals refusals;
    if (!requested.unread_model) {
        refusals.attempt([&] { check_model(experiment.model); });
        refusals.attempt([&] { check_length(experiment, file); });
    }
    refusals.attempt([&] { check_optimizer(experiment.optimizer); });
    refusals.attempt([&] { check_schedule(experiment.schedule); });
    refusals.attempt([&] { check_data(experiment.data, file); });
    refusals.attempt([&] { check_warmup(experiment.batch, file); });
    refusals.attempt([&] { check_device_batch(experiment, file); });
    refusals.attempt([&] { check_timeouts(file, experiment.watchdog, experiment.parallel); });
    refusals.attempt([&] { check_initialization(experiment.initialization, file); });
    refusals.attempt([&] { check_evaluation(experiment, file); });
    refusals.attempt([&] { check_gradients(experiment, file); });
    refusals.attempt([&] { check_residual(experiment.training, file); });
    refusals.attempt([&] { check_fp8(experiment, file); });
    refusals.attempt([&] { check_mirror(experiment.checkpoint); });
    refusals.throw_if_any();
    return requested;
}

ExperimentConfig load_experiment(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
    RequestedExperiment requested = request_experiment(file, overrides);
    if (requested.unread_model) std::rethrow_exception(requested.unread_model);
    return std::move(requested.settings);
}

}  // namespace bertpretrain
