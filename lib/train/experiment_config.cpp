#include "train/experiment_config.h"

#include <nlohmann/json.hpp>

#include "config/override.h"
#include "config/read.h"
#include "core/error.h"

namespace bertpretrain {

ExperimentConfig load_experiment(const std::filesystem::path& file, const std::vector<std::string>& overrides) {
    nlohmann::json settings = load_settings(file);
    apply_overrides(settings, overrides);
    const auto experiment = read_config<ExperimentConfig>(settings, file.string());
    check_bert(experiment.model);
    check_optimizer(experiment.optimizer);
    check_schedule(experiment.schedule);
    if (experiment.data.sequence_length > experiment.model.max_position_embeddings)
        throw ConfigError(concat(file.string(), ": data.sequence_length = ", experiment.data.sequence_length,
                                 " is more than model.max_position_embeddings = ", experiment.model.max_position_embeddings));
    const DataConfig& data = experiment.data;
    if (data.masking == "as_stored" && (data.whole_word_masking || data.masked_lm_prob != DataConfig().masked_lm_prob))
        throw ConfigError(concat(file.string(),
                                 ": data.masked_lm_prob and data.whole_word_masking change nothing while data.masking",
                                 " is \"as_stored\"\n  do: set data.masking to \"dynamic\", or leave them out"));
    return experiment;
}

}  // namespace bertpretrain
