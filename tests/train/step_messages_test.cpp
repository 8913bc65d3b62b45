// A step's small messages between ranks, each of which takes as long as the network's latency asks.
#include <ATen/Parallel.h>

#include "support/counting_world.h"
#include "support/run_ranks.h"
#include "train/make_trainer.h"
#include "train/start/init_from.h"
#include "train/step/step_opening.h"
#include "train/tiny_experiment.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr std::int64_t ranks = 3;

/// One rank of a run of which nothing has been computed.
struct TinyRank {
    TinyRank(World& threads, const ExperimentConfig& experiment, const std::filesystem::path& run) {
        at::set_num_threads(1);  // in this thread only
        Launch launch;
        launch.rank = launch.local_rank = threads.rank();
        launch.world_size = launch.local_world_size = ranks;
        auto counting = std::make_unique<CountingWorld>(threads);
        world = counting.get();
        parts = make_trainer_parts(experiment, run, {}, launch, clock, std::move(counting), at::kCPU);
        fill_initial_state(parts.plan, *world, parts.parameters->layout(), *parts.optimizer);
        parts.step->publish_weights();
        parts.loader->seek(1);
    }

    StepOpener opener() { return {*world, *parts.loader, requests, clock}; }

    StepOutcome run_step(const StepOpening& opening, std::int64_t step) {
        StopAgreement stop(*world, requests);
        return parts.step->run(opening.batch, opening.counts, 1e-3, step, stop, clock, [] {});
    }

    CountingWorld* world = nullptr;
    PhaseClock clock;
    StopRequest requests;
    TrainerParts parts;
};

/// One micro-batch per rank and step, so that no rank asks the others within a step whether to stop.
ExperimentConfig tiny(const SampleShards& shards) {
    ExperimentConfig experiment = tiny_experiment();
    experiment.data.training_shards = shards.folder.path().string();
    experiment.batch.micro_batch_size = 2;
    experiment.batch.global_batch_size = 2 * ranks;
    experiment.schedule.total_steps = 10;
    return experiment;
}

void require(bool condition, const char* what) {
    if (!condition) throw std::runtime_error(what);
}

}  // namespace

TEST_CASE("a step sends one message, and a second one where tensors' norms decide the update and are spread over ranks",
          "[system]") {
    const SampleShards shards({64});
    const std::int64_t zero_stage = GENERATE(0, 1);
    const std::string name = GENERATE("adamw", "lamb", "lans", "stable_adamw");
    CAPTURE(name, zero_stage);
    ExperimentConfig experiment = tiny(shards);
    experiment.optimizer.name = choice_named<OptimizerName>(name);
    experiment.optimizer.max_grad_norm = 0.5;
    experiment.parallel.zero_stage = zero_stage;
    const int expected = zero_stage == 0 || name == "adamw" ? 1 : 2;
    const TemporaryFolder folder;
    run_ranks(ranks, [&](World& threads) {
        TinyRank rank(threads, experiment, folder / "run");
        for (std::int64_t step = 1; step <= 3; ++step) {
            const StepOpening opening = rank.opener().open();
            std::vector<double> attached;
            rank.parts.step->attach([&] { return std::vector<double>{static_cast<double>(threads.rank())}; },
                                    [&](const std::vector<double>& of_all) { attached = of_all; });
            const int before = rank.world->messages;
            require(!rank.run_step(opening, step).skipped, "the step was skipped");
            require(attached == std::vector<double>{0, 1, 2}, "attached numbers are wrong");
            rank.parts.step->settle();
            require(rank.world->messages - before == expected, "wrong number of messages");
        }
    });
}

TEST_CASE("where all samples are ready, the next step is agreed on in a message that the ranks exchange anyway", "[system]") {
    const SampleShards shards({64});
    const TemporaryFolder folder;
    run_ranks(ranks, [&](World& threads) {
        TinyRank rank(threads, tiny(shards), folder / "run");
        while (!rank.parts.loader->wait_for(std::chrono::seconds(1))) {}
        StepOpener opener = rank.opener();
        const std::vector<double> own = opener.word();
        opener.hear(rank.world->all_gather(std::span<const double>(own)));
        const int before = rank.world->messages;
        const StepOpening opening = opener.open();
        require(rank.world->messages == before, "opening sent a message");
        if (opening.failure) std::rethrow_exception(opening.failure);
        require(!opening.stop && !opening.save, "no process asked for this");
        require(opening.counts.sequences == 2 * ranks, "wrong counts");
        require(rank.world->sum(opening.batch.sequences) == 2 * ranks, "wrong batches");
    });
}

TEST_CASE("where a rank was not ready, the ranks agree again, and a request to save is kept", "[system]") {
    const SampleShards shards({64});
    const TemporaryFolder folder;
    run_ranks(ranks, [&](World& threads) {
        TinyRank rank(threads, tiny(shards), folder / "run");
        StepOpener opener = rank.opener();
        const std::vector<double> own = opener.word();
        std::vector<double> of_all = rank.world->all_gather(std::span<const double>(own));
        of_all[own.size()] = 0;      // rank 1 is not ready
        of_all[own.size() + 2] = 1;  // and was asked to save
        opener.hear(of_all);
        const int before = rank.world->messages;
        const StepOpening opening = opener.open();
        require(rank.world->messages > before, "the ranks did not agree again");
        require(opening.save && opening.counts.sequences == 2 * ranks, "the request or the counts were lost");
    });
}
