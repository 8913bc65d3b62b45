// A run that is stopped or killed and started again is the same run, to the last bit.

#include <csignal>

#include <random>

#include "support/catch.h"
#include "support/process.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

bool same_file(const fs::path& run, const fs::path& other_run, const std::string& file) {
    const std::string content = read_text(run / file);
    return !content.empty() && content == read_text(other_run / file);
}

/// Whether a checkpoint is being written right now.
bool saving(const fs::path& run) {
    std::error_code missing;
    for (const auto& entry : fs::directory_iterator(run / "checkpoints", missing))
        if (entry.path().extension() == ".partial") return true;
    return false;
}

bool has_steps(const fs::path& run, std::size_t steps) {
    const std::string metrics = read_text(run / "metrics.jsonl");
    return static_cast<std::size_t>(std::count(metrics.begin(), metrics.end(), '\n')) >= steps;
}

std::string step_folder(std::size_t step) {
    const std::string digits = std::to_string(step);
    return "step_" + std::string(8 - digits.size(), '0') + digits;
}

/// Kills the run at random moments, every second time while it writes a checkpoint, each of these later in the run.
/// @returns how often it was killed
int kill_at_random(const std::string& command, const fs::path& run, double undisturbed_seconds, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> pause(0, undisturbed_seconds / 3);
    int kills = 0;
    for (std::size_t life = 0; life < 8; ++life) {
        Process process(command);
        if (life % 2 == 0) sleep_seconds(pause(random));
        else wait_until(process, [&] { return has_steps(run, 4 * life) && saving(run); });
        process.send(SIGKILL);
        kills += process.wait() == 128 + SIGKILL ? 1 : 0;
    }
    return kills;
}

void check_killed_run(const nlohmann::json& patch) {
    const TemporaryFolder folder;
    nlohmann::json experiment = {{"schedule", {{"total_steps", 40}}}};
    experiment.merge_patch(patch);
    const fs::path config = write_experiment(folder, experiment), undisturbed = folder / "undisturbed",
                   killed = folder / "killed";
    const double start = seconds_now();
    REQUIRE(train(config, undisturbed).exit_code == 0);
    const unsigned seed = std::random_device()();
    INFO("seed of the killing: " << seed);
    CHECK(kill_at_random(train_command(config, killed), killed, seconds_now() - start, seed) >= 4);
    const CommandResult last_life = train(config, killed);
    INFO(last_life.err);
    CHECK(last_life.exit_code == 0);
    CHECK(missing_words(last_life.err, {"going on from step "}) == "");
    CHECK(first_difference(numbers_of(killed), numbers_of(undisturbed)) == "");
    CHECK(same_file(killed, undisturbed, "checkpoints/step_00000040/model.pt"));
    CHECK(same_file(killed, undisturbed, "checkpoints/step_00000040/optimizer.pt"));
    CHECK_FALSE(saving(killed));
}

}  // namespace

TEST_CASE("a run killed again and again ends with the numbers of an undisturbed one: adamw, fp32") {
    NEEDS_TRAIN();
    check_killed_run({{"training", {{"precision", "fp32"}}}});
}

TEST_CASE("a run killed again and again ends with the numbers of an undisturbed one: lamb, bf16") {
    NEEDS_TRAIN();
    check_killed_run({{"training", {{"precision", "bf16"}}}, {"optimizer", {{"name", "lamb"}, {"learning_rate", 0.01}}}});
}

TEST_CASE("a signal to stop saves the step it comes in, and the same command goes on from there") {
    NEEDS_TRAIN();
    for (const int signal : {SIGTERM, SIGINT}) {
        const TemporaryFolder folder;
        const fs::path& config = finished_run().config;
        Process process(train_command(config, folder / "run"));
        REQUIRE(wait_until(process, [&] { return has_steps(folder / "run", 4); }));
        process.send(signal);
        CHECK(process.wait() == 128 + signal);
        const std::size_t step = nlohmann::json::parse(numbers_of(folder / "run").back()).at("step").get<std::size_t>();
        CHECK(step < 20);
        CHECK(fs::exists(folder / "run/checkpoints" / step_folder(step) / "COMPLETE.json"));
        const CommandResult rest = train(config, folder / "run");
        CHECK(missing_words(rest.err, {"going on from step " + std::to_string(step)}) == "");
        CHECK(rest.exit_code == 0);
        CHECK(first_difference(numbers_of(folder / "run"), numbers_of(finished_run().run)) == "");
    }
}

TEST_CASE("a finished run, started again, changes nothing") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    copy_finished_run(folder / "run");
    const CommandResult again = train(finished_run().config, folder / "run");
    CHECK(again.exit_code == 0);
    CHECK(missing_words(again.out, {"step_00000020", "loss.svg"}) == "");
    CHECK(first_difference(numbers_of(folder / "run"), numbers_of(finished_run().run)) == "");
    CHECK(same_file(folder / "run", finished_run().run, "checkpoints/step_00000020/model.pt"));
}
