#include "train/same_run.h"

#include <nlohmann/json.hpp>

#include "config/read.h"
#include "config/write.h"
#include "core/error.h"
#include "parallel/together.h"

namespace bertpretrain {
namespace {

/// The settings that all ranks must share; whether there are weights to begin with is one, where they lie is none.
ExperimentConfig common_to_all(ExperimentConfig experiment) {
    const std::string own = "each rank's own";
    experiment.about = own;
    experiment.data.training_shards = own;
    experiment.data.held_out_shards = own;
    experiment.data.vocabulary = own;
    experiment.data.loader_threads.reset();
    if (experiment.initialization.init_from) experiment.initialization.init_from = own;
    experiment.training.device = "auto";
    experiment.training.cpu_matmul = "measured";  // rank 0 decides
    experiment.training.gpu_kernels = "auto";     // as well
    experiment.checkpoint.after_save = own;       // rank 0 runs it
    experiment.checkpoint.after_save_seconds = CheckpointConfig().after_save_seconds;
    return experiment;
}

}  // namespace

void refuse_different_runs(ControlGroup& ranks, const ExperimentConfig& experiment, const std::string& data) {
    const ExperimentConfig own = common_to_all(experiment);
    const std::string settings_of_first = ranks.text_of_first(write_config(own).dump()),
                      data_of_first = ranks.text_of_first(data);
    together(ranks, [&] {
        const auto of_first = read_config<ExperimentConfig>(nlohmann::json::parse(settings_of_first), "rank 0's settings");
        std::string differences;
        const auto add = [&](const std::string& what, const std::string& there, const std::string& here) {
            differences += concat("\n  ", what, ": ", there, " on rank 0, ", here, " on rank ", ranks.rank());
        };
        for (const Difference& one : compare_configs(of_first, own)) add(one.path, one.value_a, one.value_b);
        if (data != data_of_first) add("the data", data_of_first, data);
        if (!differences.empty())
            throw ConfigError(concat("the ranks were not started for one run:", differences,
                                     "\n  do: give all ranks the same settings, and the same shards (bertpretrain_data check)"));
    });
}

}  // namespace bertpretrain
