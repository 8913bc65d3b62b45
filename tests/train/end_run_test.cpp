// How a run of one process ends, with its ranks as threads.
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include <ATen/Parallel.h>

#include "checkpoint/lineage.h"
#include "support/forwarding_world.h"
#include "support/run_ranks.h"
#include "train/make_trainer.h"
#include "train/tiny_experiment.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Four steps, each with one micro-batch per rank.
ExperimentConfig four_steps(const SampleShards& shards, std::int64_t ranks) {
    ExperimentConfig experiment = tiny_experiment();
    experiment.data.training_shards = shards.folder.path().string();
    experiment.batch.micro_batch_size = 2;
    experiment.batch.global_batch_size = 2 * ranks;
    experiment.schedule.total_steps = 4;
    experiment.checkpoint.save_every_steps = 2;
    return experiment;
}

/// Adds shards of 64 held-out rows.
void add_held_out(const SampleShards& shards, int count) {
    for (int i = 0; i < count; ++i) fs::copy_file(shards.files.front(), shards.folder / concat("wiki_test_000", i, ".h5"));
}

/// Delays the next message of a rank.
class SlowWorld final : public ForwardingWorld {
public:
    using ForwardingWorld::ForwardingWorld;
    using World::all_gather;
    std::vector<std::string> all_gather(std::string_view own) override {
        std::this_thread::sleep_for(std::exchange(delay, std::chrono::milliseconds(0)));
        return ForwardingWorld::all_gather(own);
    }
    std::chrono::milliseconds delay{0};
};

/// What a test does on each rank: before the trainer is made, and with the trainer instead of Trainer::run() alone.
struct OnRank {
    std::function<void(TrainerParts&)> change = [](TrainerParts&) {};
    std::function<void(Trainer&, SlowWorld&)> body = [](Trainer& trainer, SlowWorld&) { trainer.run(); };
};

void train(const ExperimentConfig& experiment, const fs::path& run, std::int64_t ranks, const OnRank& what) {
    run_ranks(ranks, [&](World& threads) {
        at::set_num_threads(1);  // in this thread only
        Launch launch;
        launch.rank = launch.local_rank = threads.rank();
        launch.world_size = launch.local_world_size = ranks;
        PhaseClock clock;
        StopRequest requests;
        auto slow = std::make_unique<SlowWorld>(threads);
        SlowWorld& world = *slow;
        TrainerParts parts = make_trainer_parts(experiment, run, {}, launch, clock, std::move(slow), at::kCPU);
        what.change(parts);
        Trainer trainer(std::move(parts), requests);
        what.body(trainer, world);
    });
}

}  // namespace

TEST_CASE("a checkpoint keeps the pass that was measured, also the smallest, and none where only one was possible", "[system]") {
    const SampleShards shards({64});
    const TemporaryFolder folder;
    for (const std::int64_t micro_batches : {1, 2}) {
        ExperimentConfig experiment = four_steps(shards, 1);
        experiment.batch.global_batch_size = 2 * micro_batches;
        OnRank on_rank;
        on_rank.change = [](TrainerParts& parts) { parts.plan.batch.measures_pass = true; };  // as on a GPU
        const fs::path run = folder / std::to_string(micro_batches);
        train(experiment, run, 1, on_rank);
        const std::string progress = read_text(run / "checkpoints/step_00000004/training_state.json");
        CHECK((progress.find("\"device_micro_batch\": 2") != progress.npos) == (micro_batches == 2));
        CHECK_FALSE(progress.empty());
    }
}

TEST_CASE("a limit that is noticed after the last step but one does not stop a run, which completes; before a phase it does") {
    const SampleShards shards({64});
    const TemporaryFolder folder;
    for (const bool is_last : {true, false}) {
        ExperimentConfig experiment = four_steps(shards, 1);
        experiment.schedule.total_steps = 2;
        OnRank on_rank;
        on_rank.change = [&](TrainerParts& parts) {
            parts.is_last_phase = is_last;
            parts.limits.seconds = 4;
        };
        on_rank.body = [&](Trainer& trainer, SlowWorld& world) {
            world.delay = std::chrono::milliseconds(3500);  // of the first step's start, after the first look at the limit
            trainer.run();
            if (trainer.step() < 2) return;  // so busy a machine that the limit was reached before the first step
            require_on_rank(trainer.stopped_at_limit().has_value() != is_last, "whether the limit counts is wrong");
        };
        train(experiment, folder / std::to_string(is_last), 1, on_rank);
    }
}

TEST_CASE("checkpoints carry the vocabulary of the run's start, although its file changes or goes", "[system]") {
    const SampleShards shards({64});
    const TemporaryFolder folder;
    const fs::path words = folder / "words.txt";
    std::string tokens = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n";
    for (int i = 0; i < 100; ++i) tokens += concat("w", i, "\n");
    write_text(words, tokens);
    ExperimentConfig experiment = four_steps(shards, 1);
    experiment.data.vocabulary = words.string();
    OnRank on_rank;
    on_rank.body = [&](Trainer& trainer, SlowWorld&) {
        fs::remove(words);
        trainer.run();
    };
    train(experiment, folder / "run", 1, on_rank);
    CHECK(read_text(folder / "run/checkpoints/step_00000004/vocab.txt") == tokens);
}

TEST_CASE("a complete run whose last evaluation is made up for saves its held-out loss, once", "[system]") {
    const SampleShards shards({64});
    add_held_out(shards, 1);
    const TemporaryFolder folder;
    const fs::path run = folder / "run", last = run / "checkpoints/step_00000004";
    ExperimentConfig experiment = four_steps(shards, 2);
    train(experiment, run, 2, {});  // as one whose last evaluation was interrupted by a signal
    REQUIRE(read_text(last / "training_state.json").find("held_out_mlm_loss") == std::string::npos);
    experiment.evaluation.every_steps = 2;
    train(experiment, run, 2, {});
    CHECK(read_text(last / "training_state.json").find("held_out_mlm_loss") != std::string::npos);
    CHECK((CheckpointStore(run / "checkpoints").best_complete() == last));
    const Lineage lineage = read_lineage(last / lineage_file);
    REQUIRE(lineage.predecessors.size() == 1);  // not the checkpoint that it replaced
    CHECK(lineage.predecessors.front().step == 2);
    const std::string metrics = read_text(run / "metrics.jsonl"), mark = read_text(last / "COMPLETE.json");
    const auto saved = fs::last_write_time(last / "model.pt");
    train(experiment, run, 2, {});
    CHECK(read_text(run / "metrics.jsonl") == metrics);
    CHECK(read_text(last / "COMPLETE.json") == mark);
    CHECK(fs::last_write_time(last / "model.pt") == saved);
}

TEST_CASE("where one rank cannot read its held-out rows, all ranks save the last step and end with that error", "[system]") {
    const SampleShards shards({64});
    add_held_out(shards, 4);  // two per rank, so that each evaluation reads the first again
    const TemporaryFolder folder;
    ExperimentConfig experiment = four_steps(shards, 2);
    experiment.checkpoint.save_every_steps = 0;
    experiment.evaluation.every_steps = 3;
    experiment.evaluation.micro_batch_size = 16;
    std::atomic<int> failed = 0;
    OnRank on_rank;
    on_rank.body = [&](Trainer& trainer, SlowWorld& world) {
        world.barrier();
        if (world.rank() == 0) fs::resize_file(shards.folder / "wiki_test_0000.h5", 1000);
        world.barrier();
        try {
            trainer.run();
        } catch (const Error& error) {
            const bool is_reading =
                error.code() == ExitCode::data && std::string(error.what()).find("wiki_test_0000.h5") != std::string::npos;
            if (is_reading && trainer.step() == 3 && trainer.is_saved()) ++failed;
        }
    };
    train(experiment, folder / "run", 2, on_rank);
    CHECK(failed == 2);
    CHECK(fs::exists(folder / "run/checkpoints/step_00000003/COMPLETE.json"));
}

TEST_CASE("before another phase the other ranks wait for rank 0's commands; after the last one they leave", "[system]") {
    const SampleShards shards({64});
    const TemporaryFolder folder;
    const fs::path done = folder / "done", left = folder / "left";
    ExperimentConfig experiment = four_steps(shards, 2);
    experiment.checkpoint.save_every_steps = 0;
    experiment.checkpoint.after_save_seconds = 60;
    const auto train_phase = [&](bool is_last, const std::string& command) {
        experiment.checkpoint.after_save = command + "; touch " + done.string();
        std::atomic<int> waited = 0;
        OnRank on_rank;
        on_rank.change = [&](TrainerParts& parts) { parts.is_last_phase = is_last; };
        on_rank.body = [&](Trainer& trainer, SlowWorld&) {
            trainer.run();
            if (fs::exists(done)) ++waited;
            else write_text(left, "");
        };
        train(experiment, folder / (is_last ? "last" : "first"), 2, on_rank);
        fs::remove(done);
        return waited.load();
    };
    CHECK(train_phase(false, "sleep 0.5") == 2);
    CHECK_FALSE(fs::exists(left));
    // This command ends only after rank 1 has left.
    CHECK(train_phase(true, "while [ ! -e " + left.string() + " ]; do sleep 0.01; done") == 1);
}
