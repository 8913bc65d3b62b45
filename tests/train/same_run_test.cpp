// All ranks must have the same plan, also where the program decides.
#include "train/start/same_run.h"

#include "core/error.h"
#include "support/catch.h"
#include "support/plans.h"
#include "support/run_ranks.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

ExperimentConfig small() {
    ExperimentConfig experiment;
    experiment.data.training_shards = "shards";
    experiment.batch.micro_batch_size = 4;
    experiment.batch.device_micro_batch = 4;
    return experiment;
}

/// Returns the plan of one of three ranks. The manifest of its shards names a vocabulary of `tokens` tokens.
RunPlan plan_with_vocabulary(std::int64_t tokens) {
    ExperimentConfig experiment = small();
    experiment.model.bert.vocab_size = 0;
    Launch launch;
    launch.world_size = 3;
    DataFacts data;
    data.is_there = true;
    data.manifest.emplace();
    data.manifest->vocabulary.size = tokens;
    return resolve(experiment, launch, {}, data, nullptr);
}

/// Runs `check` on every rank. @returns by rank the message of its ConfigError; empty where it threw nothing
std::vector<std::string> refusals(std::int64_t ranks, const std::function<void(World&)>& check) {
    std::vector<std::string> messages(static_cast<std::size_t>(ranks));
    run_ranks(ranks, [&](World& world) {
        try {
            check(world);
        } catch (const Error& error) {
            if (error.code() != ExitCode::config) throw;
            messages[static_cast<std::size_t>(world.rank())] = error.what();
        }
    });
    return messages;
}

}  // namespace

TEST_CASE("a value that one rank decided differently from rank 0 is refused on all ranks, with both values and their origins") {
    const auto messages =
        refusals(3, [](World& world) { refuse_different_plans(world, plan_with_vocabulary(world.rank() == 1 ? 1001 : 2001)); });
    for (const std::string& message : messages)
        CHECK_THAT(message, Catch::Contains("\n  model.vocab_size: 2008 on rank 0 (auto: the manifest of the shards says 2001 "
                                            "tokens, rounded up to a multiple of 8), 1008 on rank 1 (auto: the manifest of the "
                                            "shards says 1001 tokens, rounded up to a multiple of 8)\n  do: "));
}

TEST_CASE("the same settings are refused where the ranks' machines lead to different values") {
    ExperimentConfig experiment = small();
    experiment.batch.device_micro_batch.reset();
    const auto messages =
        refusals(2, [&](World& world) { refuse_different_plans(world, plan_of(experiment, 2, world.rank() == 0 ? 8 : 0)); });
    for (const std::string& message : messages) {
        CHECK_THAT(message,
                   Catch::Contains("\n  batch.device_micro_batch: to be measured on rank 0 (auto: the largest that fits"));
        CHECK_THAT(message, Catch::Contains(", 4 on rank 1 (auto: batch.micro_batch_size: on a CPU)\n  do: "));
    }
}

TEST_CASE("ranks may differ in what only concerns their hosts, and in where a value comes from") {
    const auto messages = refusals(2, [](World& world) {
        RequestedExperiment experiment = small();
        ExperimentConfig& settings = experiment.settings;
        settings.initialization.init_from = "weights";
        if (world.rank() == 1) {
            experiment.origins["optimizer.learning_rate"] = bertpretrain::Origin::command_line;
            settings.about = "the second host";
            settings.data.training_shards = "/elsewhere";
            settings.data.held_out_shards = "/elsewhere";
            settings.data.loader_threads = 3;
            settings.initialization.init_from = "/elsewhere/weights";
            settings.training.device = "cpu";
            settings.training.cpu_matmul = "onednn";
            settings.training.gpu_kernels = KernelPolicy::reference;
            settings.checkpoint.after_save = "true";
            settings.checkpoint.after_save_seconds = 5;
        }
        refuse_different_plans(world, plan_of(experiment, 2));
    });
    CHECK(messages == std::vector<std::string>{"", ""});
}

TEST_CASE("settings that differ are refused together, each with its origin") {
    const auto messages = refusals(2, [](World& world) {
        RequestedExperiment experiment = small();
        if (world.rank() == 1) {
            experiment.settings.training.seed = 7;
            experiment.origins["training.seed"] = bertpretrain::Origin::command_line;
            experiment.settings.initialization.init_from = "weights";
            experiment.origins["initialization.init_from"] = bertpretrain::Origin::file;
        }
        refuse_different_plans(world, plan_of(experiment, 2));
    });
    for (const std::string& message : messages) {
        CHECK_THAT(message, Catch::Contains("\n  training.seed: 42 on rank 0 (default), 7 on rank 1 (--set)\n"));
        CHECK_THAT(message,
                   Catch::Contains("\n  initialization.init_from: null on rank 0 (default), \"weights\" on rank 1 (file)\n"));
        CHECK_THAT(message, Catch::Contains("\n  training.dropout_seed: 42 on rank 0 (auto: the seed), 7 on rank 1"));
    }
}

TEST_CASE("different data is refused on all ranks") {
    CHECK(refusals(2, [](World& world) { refuse_different_data(world, "same"); }) == std::vector<std::string>{"", ""});
    const auto messages = refusals(3, [](World& world) { refuse_different_data(world, world.rank() == 2 ? "bbb" : "aaa"); });
    for (const std::string& message : messages)
        CHECK_THAT(message, Catch::Contains("\n  the data: aaa on rank 0, bbb on rank 2\n  do: "));
}
