#include "train/save/checkpoint_saver.h"

#include <chrono>
#include <list>
#include <thread>

#include "checkpoint/example_state.h"
#include "core/clock.h"
#include "core/error.h"
#include "support/run_ranks.h"
#include "train/save/checkpoint_space.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// One rank of a run that does nothing but save; the example's memory outlives its saves.
struct Saving {
    Saving(const TemporaryFolder& run, World& ranks, const CheckpointConfig& config, const fs::path& checkpoints)
        : world(ranks),
          folder(run.path(), ranks.rank() == 0 ? RunFolder::Role::takes : RunFolder::Role::joins),
          records(folder, 100, std::nullopt, ranks.rank() == 0),
          saver(ranks, config, CheckpointStore(checkpoints), std::vector<bool>(static_cast<std::size_t>(ranks.size()), true),
                records) {}

    Snapshot snapshot(std::int64_t step) {
        examples.push_back(example_state(step, static_cast<std::size_t>(world.rank()), static_cast<std::size_t>(world.size())));
        return {{}, {}, {}, examples.back().state};
    }
    void start(std::int64_t step) {
        saver.make_room();
        saver.start(snapshot(step), seconds_now());
    }
    void save_now(std::int64_t step, bool last = false) {
        saver.make_room();
        saver.save_now(snapshot(step), last);
    }
    /// As a run that trains on does. @returns whether it was noticed that the step is saved, within a minute
    bool train_until_saved(std::int64_t step) {
        for (int i = 0; i < 6000 && saver.step_saved() != step; ++i) {
            const std::vector<double> own = saver.word();
            saver.hear(world.all_gather(std::span<const double>(own)));
            saver.look();
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
        }
        return saver.step_saved() == step;
    }

    std::list<ExampleState> examples;
    World& world;
    RunFolder folder;
    RunRecords records;
    CheckpointSaver saver;
};

std::string words_of(const std::function<void()>& body) {
    try {
        body();
    } catch (const Error& error) {
        check(error.code() == ExitCode::checkpoint, error.what());
        return error.what();
    }
    return "";
}

/// For threads, which Catch2 does not let check.
void must_say(const std::function<void()>& body, const std::string& part) {
    const std::string words = words_of(body);
    check(words.find(part) != words.npos, "\"", part, "\" is not in \"", words, "\"");
}

}  // namespace

TEST_CASE("saved in the background or at once, by one rank or three, a checkpoint has the same bytes") {
    std::map<std::string, std::string> expected;
    for (const std::int64_t ranks : {1, 3})
        for (const bool background : {false, true}) {
            const TemporaryFolder run;
            run_ranks(ranks, [&](World& world) {
                Saving saving(run, world, {}, run / "checkpoints");
                if (!background) return saving.save_now(20, true);
                saving.start(20);
                check(saving.train_until_saved(20), "the save ends");
            });
            for (const char* name : {"model.pt", "optimizer.pt", "training_state.json", "COMPLETE.json"}) {
                const std::string content = read_text(run / "checkpoints/step_00000020" / name);
                CHECK_FALSE(content.empty());
                CHECK((expected.try_emplace(name, content).first->second == content));
            }
            CHECK_THAT(read_text(run / "events.jsonl"), Says("\"save\"") && Says("stall_seconds"));
        }
}

TEST_CASE("one save is under way at a time: another one that falls due waits for it", "[system]") {
    const TemporaryFolder run;
    run_ranks(2, [&](World& world) {
        Saving saving(run, world, {}, run / "checkpoints");
        for (std::int64_t step = 1; step <= 8; ++step) {
            saving.start(step);
            if (step > 1) check(saving.saver.step_saved() == step - 1, "the one before is complete");
        }
        saving.saver.finish();
    });
    CHECK(names_in(run / "checkpoints") == std::vector<std::string>{"step_00000006", "step_00000007", "step_00000008"});
}

TEST_CASE("a save that fails is told and tried again when the next is due, unless it is the last or the setting is stop") {
    for (const std::int64_t ranks : {1, 3}) {
        const TemporaryFolder run;
        run_ranks(ranks, [&](World& world) {
            Saving saving(run, world, {}, run / "later/checkpoints");
            saving.start(1);
            saving.save_now(2);
            check(!saving.saver.step_saved(), "nothing is saved yet");
            must_say([&] { saving.save_now(3, true); }, "checkpoints: cannot be created");
            saving.start(4);
            saving.saver.finish();
            check(!saving.saver.step_saved(), "nothing is saved yet");
            world.barrier();
            if (world.rank() == 0) fs::create_directories(run / "later");
            saving.start(5);
            check(saving.train_until_saved(5), "the folder is there now");
        });
        CHECK_THAT(read_text(run / "events.jsonl"), Says("save_failed"));
        run_ranks(ranks, [&](World& world) {
            CheckpointConfig config;
            config.on_save_error = OnSaveError::stop;
            Saving saving(run, world, config, run / "never/checkpoints");
            must_say([&] { saving.save_now(1); }, "checkpoints: cannot be created");
            saving.start(2);
            must_say([&] { saving.saver.make_room(); }, "checkpoints: cannot be created");
        });
    }
}

TEST_CASE("a checkpoint is not deleted while the command after its save runs") {
    const TemporaryFolder run;
    SingleProcess alone;
    CheckpointConfig config;
    config.keep_last = 1;
    config.after_save = "case $1 in *_00000001) while [ ! -e '" + (run / "go").string() + "' ]; do sleep 0.01; done;; esac";
    Saving saving(run, alone, config, run / "checkpoints");
    std::int64_t step = 0;
    const auto save_until_gone = [&](const fs::path& checkpoint) {
        for (int more = 0; more < 1000 && fs::exists(checkpoint); ++more) {
            std::this_thread::sleep_for(std::chrono::milliseconds(10));  // a command may take its time to end
            saving.save_now(++step);
        }
        CHECK_FALSE(fs::exists(checkpoint));
    };
    saving.save_now(++step);
    saving.save_now(++step);
    save_until_gone(run / "checkpoints/step_00000002");
    CHECK(fs::exists(run / "checkpoints/step_00000001"));
    write_text(run / "go", "");
    save_until_gone(run / "checkpoints/step_00000001");
}

TEST_CASE("a run does not begin where not even one checkpoint fits, unless an existing one can be deleted for it") {
    const TemporaryFolder run;
    const CheckpointSpace space = compare_space(run / "checkpoints", 1 << 20, ExperimentConfig());
    CHECK(space.holds_all);
    CHECK_THAT(space.words, Says("1.0 MiB each; 3 kept, the best one and one being written take 5.0 MiB; free now"));
    const std::uint64_t huge = std::uint64_t{1} << 60;
    CHECK_THAT(words_of([&] { compare_space(run / "checkpoints", huge, {}); }), Says("no space for even one"));
    CHECK_THAT(words_of([&] { compare_space(run / "checkpoints", huge, {}, {2, 0}); }), Says("no space for even one"));
    CHECK_FALSE(compare_space(run / "checkpoints", huge, {}, {2, 1}).holds_all);
    ExperimentConfig settings;
    settings.schedule.total_steps = 1500;
    settings.checkpoint.save_every_steps = 50;
    settings.checkpoint.keep_every_steps = 100;  // steps 100 to 1,300; later ones are among the last three
    CHECK_THAT(compare_space(run / "checkpoints", 1 << 20, settings).words,
               Says("3 kept, 13 of checkpoint.keep_every_steps, the best one and one being written take 18.0 MiB"));
}

TEST_CASE("after a save that failed, the next attempt is due after a tenth of the steps between two saves") {
    const TemporaryFolder run;
    SingleProcess alone;
    CheckpointConfig config;
    config.save_every_steps = 250;
    Saving saving(run, alone, config, run / "later/checkpoints");
    saving.save_now(250);
    CHECK_FALSE(saving.saver.repeats_after(274));
    CHECK(saving.saver.repeats_after(275));
    saving.save_now(275);
    CHECK_FALSE(saving.saver.repeats_after(324));  // the pause doubles while saves fail
    CHECK(saving.saver.repeats_after(325));
    fs::create_directories(run / "later");
    saving.save_now(325);
    CHECK_FALSE(saving.saver.repeats_after(450));
}
