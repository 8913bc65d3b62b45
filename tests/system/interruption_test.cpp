// A run that is killed and restarted gives the same bits as an uninterrupted one.

#include <csignal>

#include <algorithm>
#include <random>

#include <sys/stat.h>

#include "core/clock.h"
#include "core/error.h"
#include "support/catch.h"
#include "support/process.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

bool same_file(const fs::path& run, const fs::path& other_run, const std::string& file) {
    const std::string content = read_text(run / file);
    return !content.empty() && content == read_text(other_run / file);
}

/// Returns a text that differs between moments of saving; empty while no checkpoint is being written.
std::string partial_folder(const fs::path& run) {
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator(run / "checkpoints", gone)) {
        struct stat status {};
        if (entry.path().extension() == ".partial" && ::stat(entry.path().c_str(), &status) == 0)
            return concat(entry.path().string(), " ", status.st_ino, " ", status.st_mtim.tv_sec, " ", status.st_mtim.tv_nsec);
    }
    return {};
}

bool finished(const fs::path& run) { return read_text(run / "events.jsonl").find("\"finish\"") != std::string::npos; }

/// A run that is killed at random moments, a third of them while it writes a checkpoint.
class Victim {
public:
    Victim(std::string command, fs::path run, double undisturbed_seconds, std::mt19937& random)
        : command_(std::move(command)), run_(std::move(run)), pause_(0, 0.8 * undisturbed_seconds), random_(random) {}

    /// Starts the run once and kills it at a random moment. @returns whether it was killed; false if it had finished
    bool live_and_die(bool while_saving) {
        Process process(command_);
        if (while_saving) {
            const std::string left_behind = partial_folder(run_);  // by the previous start
            std::string now;
            wait_until(process, [&] { return !(now = partial_folder(run_)).empty() && now != left_behind; });
            sleep_seconds(std::uniform_real_distribution<double>(0, 0.004)(random_));
        } else {
            sleep_seconds(pause_(random_));
        }
        if (process.ended() || finished(run_)) return process.wait() != 0;
        std::vector<pid_t> candidates = children_of(process.pid());  // the ranks, if there are several
        candidates.push_back(process.pid());
        ::kill(candidates[random_() % candidates.size()], SIGKILL);
        return process.wait() != 0;
    }

private:
    std::string command_;
    fs::path run_;
    std::uniform_real_distribution<double> pause_;
    std::mt19937& random_;
};

void check_checkpoints(const fs::path& run) {
    if (!fs::exists(run / "checkpoints/step_00000004")) return;
    const CommandResult verified = run_command(train_program + " inspect --verify " + run.string());
    INFO(verified.err);
    CHECK(verified.exit_code == 0);
}

void check_equals(const fs::path& run, const fs::path& undisturbed) {
    CHECK(first_difference(numbers_of(run), numbers_of(undisturbed)) == "");
    CHECK(same_file(run, undisturbed, "checkpoints/step_00000040/model.pt"));
    CHECK(same_file(run, undisturbed, "checkpoints/step_00000040/optimizer.pt"));
    CHECK(partial_folder(run).empty());
}

/// Trains runs of 40 steps, each killed and restarted until it finishes, until the number of kills is reached.
void check_kills(const std::string& options, const nlohmann::json& patch, int kills) {
    const TemporaryFolder folder;
    nlohmann::json experiment = {{"schedule", {{"total_steps", 40}}}, {"checkpoint", {{"save_every_steps", 4}}}};
    experiment.merge_patch(patch);
    const fs::path config = write_experiment(folder, experiment), undisturbed = folder / "undisturbed", run = folder / "killed";
    const double start = seconds_now();
    REQUIRE(train(config, undisturbed, options).exit_code == 0);
    const unsigned seed = std::random_device()();
    INFO("seed of the killing: " << seed);
    std::mt19937 random(seed);
    Victim victim(train_command(config, run, options), run, seconds_now() - start, random);
    for (int killed = 0; killed < kills;) {
        if (victim.live_and_die(killed % 3 == 2)) ++killed;
        check_checkpoints(run);
        if (!finished(run) && killed < kills) continue;
        const CommandResult last_life = train(config, run, options);
        INFO(last_life.err);
        CHECK(last_life.exit_code == 0);
        check_equals(run, undisturbed);
        fs::remove_all(run);
    }
}

nlohmann::json bf16_lamb() {
    return {{"training", {{"precision", "bf16"}}}, {"optimizer", {{"name", "lamb"}, {"learning_rate", 0.01}}}};
}

/// Options of two ranks with the same global batch as one rank.
const std::string two_ranks = "--local-ranks 2 --set batch.global_batch_size=24 --set parallel.first_step_timeout_seconds=20";

}  // namespace

TEST_CASE("a run killed again and again ends with the bits of an undisturbed one: one rank, lamb, bf16") {
    NEEDS_TRAIN();
    check_kills("", bf16_lamb(), 10);
}

TEST_CASE("a run killed again and again ends with the bits of an undisturbed one: two ranks, adamw, fp32") {
    NEEDS_TRAIN();
    check_kills(two_ranks, nlohmann::json::object(), 10);
}

TEST_CASE("200 kills: 100 on one rank, 100 on two", "[.long]") {
    NEEDS_TRAIN();
    check_kills("", bf16_lamb(), 100);
    check_kills(two_ranks, nlohmann::json::object(), 100);
}

TEST_CASE("1,000 kills: 500 on one rank, 500 on two", "[.long]") {
    NEEDS_TRAIN();
    check_kills("", nlohmann::json::object(), 500);
    check_kills(two_ranks, bf16_lamb(), 500);
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
