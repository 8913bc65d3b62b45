// A batch that grows: samples are counted as a sum, kills and other ranks change nothing, and audit computes the same steps.
#include <csignal>

#include "support/catch.h"
#include "system/run_progress.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// 20 steps of 3, 3, 3, 5, 5, 5, 7, 7, 7 and then 8 sequences.
const json growing{{"batch", {{"global_batch_size", 8}, {"warmup_steps", 9}, {"warmup_from", 3}, {"warmup_increment", 2}}},
                   {"model", {{"hidden_dropout_prob", 0.1}}}};

std::vector<std::int64_t> samples_of(const fs::path& run) {
    std::vector<std::int64_t> samples;
    for (const std::string& line : lines_so_far(run / "metrics.jsonl"))
        if (const json record = json::parse(line); record.contains("samples")) samples.push_back(record.at("samples"));
    return samples;
}

}  // namespace

TEST_CASE("a run whose batch grows has the bits of an undisturbed one after kills, and audit confirms every step") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, growing), whole = folder / "whole", run = folder / "run";
    const CommandResult result = train(config, whole);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(missing_words(result.err, {"batch warm-up     from 3 sequences by 2 at a time, in 9 steps"}) == "");
    CHECK(samples_of(whole) ==
          std::vector<std::int64_t>{3, 6, 9, 14, 19, 24, 31, 38, 45, 53, 61, 69, 77, 85, 93, 101, 109, 117, 125, 133});
    for (const std::size_t steps : {2U, 7U, 12U}) {
        Process process(train_command(config, run));
        REQUIRE(wait_until(process, [&] { return steps_of(run) > steps; }));
        process.send(SIGKILL);
        process.wait();
    }
    check_goes_on(config, run, whole);
    const CommandResult audited = run_command("env OMP_NUM_THREADS=1 " + train_program + " audit " + run.string() + " --json");
    INFO(audited.err << audited.out);
    CHECK(audited.exit_code == 0);
    CHECK(json::parse(audited.out).at("verdict") == "equal");
    const CommandResult inspected = run_command(train_program + " inspect " + run.string());
    CHECK(missing_words(inspected.out, {"133, 8 per step"}) == "");
}

TEST_CASE("1, 2 and 3 ranks train the same model with a growing batch, also where their number changes in the warm-up") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, growing);
    REQUIRE(train(config, folder / "1").exit_code == 0);
    for (const std::string ranks : {"2", "3"}) REQUIRE(train(config, folder / ranks, "--local-ranks " + ranks).exit_code == 0);
    REQUIRE(train(config, folder / "changed",
                  "--local-ranks 3 --set schedule.name=constant --set schedule.total_steps=5 "
                  "--set schedule.warmup_ratio=0")
                .exit_code == 0);
    REQUIRE(train(config, folder / "constant", "--set schedule.name=constant --set schedule.warmup_ratio=0").exit_code == 0);
    REQUIRE(train(config, folder / "changed", "--set schedule.name=constant --set schedule.warmup_ratio=0").exit_code == 0);
    const auto losses = [&](const char* run) {
        std::vector<double> found;
        for (const std::string& line : numbers_of(folder / run))
            if (const json record = json::parse(line); record.contains("loss")) found.push_back(record.at("loss"));
        return found;
    };
    const auto close = [&](const char* a, const char* b) {
        const std::vector<double> one = losses(a), other = losses(b);
        REQUIRE(one.size() == 20);
        REQUIRE(other.size() == 20);
        for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i] == Approx(other[i]).epsilon(1e-5));
    };
    close("1", "2");
    close("1", "3");
    close("constant", "changed");
}

TEST_CASE("a warm-up that changes on resume, or begins with fewer sequences than ranks, is refused by its setting") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, growing), run = folder / "run";
    REQUIRE(train(config, run, "--set schedule.total_steps=4").exit_code == 0);
    const CommandResult changed = train(config, run, "--set batch.warmup_increment=1");
    CHECK(changed.exit_code == 2);
    CHECK(missing_words(changed.err, {"batch.warmup_increment: 2 in the checkpoint, 1 now"}) == "");
    const CommandResult many = train(config, folder / "many", "--local-ranks 4");
    CHECK(many.exit_code == 2);
    CHECK(missing_words(many.err, {"a step of 3 sequences cannot be shared by 4 ranks", "raise batch.warmup_from"}) == "");
    const CommandResult incomplete = train(config, folder / "other", "--set batch.warmup_increment=0");
    CHECK(incomplete.exit_code == 2);
    CHECK(missing_words(incomplete.err, {"batch.warmup_steps = 9", "warmup_increment = 0", "needs all three"}) == "");
}

TEST_CASE("preflight measures whole batches, not the first steps of a warm-up") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, growing);
    const CommandResult checked = run_command("env OMP_NUM_THREADS=1 " + train_program +
                                              " preflight --repetitions 2 --max-bytes 4K --steps 2 --json " + config.string());
    INFO(checked.err << checked.out);
    REQUIRE(checked.exit_code == 0);
    const json run = json::parse(checked.out).at("dry_run");
    // Of two steps, the second alone counts.
    CHECK(run.at("sequences_per_second").get<double>() * run.at("step_seconds").get<double>() == Approx(8).epsilon(1e-6));
}
