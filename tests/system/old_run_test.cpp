// The folders of runs that earlier commits began (tests/golden/README.md): they must resume, evaluate and export for ever.
#include <cmath>
#include <map>
#include <sstream>

#include "support/catch.h"
#include "support/golden.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// The commits whose runs are kept.
constexpr const char* commits[] = {"7ab8898", "fde1060"};

/// A copy of a commit's run: `run` with a checkpoint of step 4, the shards, and the metrics of all eight steps.
class OldRun {
public:
    explicit OldRun(const std::string& commit) {
        const CommandResult unpacked =
            run_command("tar -xzf tests/golden/run_" + commit + ".tar.gz -C " + folder_.path().string());
        INFO(unpacked.err);
        REQUIRE(unpacked.exit_code == 0);
    }
    fs::path operator/(const std::string& name) const { return folder_ / name; }
    const fs::path& path() const { return folder_.path(); }

private:
    TemporaryFolder folder_;
};

/// Every loss of a run's metrics by step and name.
std::map<std::string, double> losses_of(const fs::path& run) {
    std::map<std::string, double> losses;
    std::istringstream lines(read_text(run / "metrics.jsonl"));
    for (std::string line; std::getline(lines, line);) {
        const json record = json::parse(line);
        for (const char* name : {"mlm_loss", "nsp_loss", "held_out_mlm_loss", "held_out_nsp_loss"})
            if (record.contains(name)) losses[name + (" " + record.at("step").dump())] = record.at(name);
    }
    return losses;
}

/// fp32 losses near 6 of a model of two layers, after at most 8 updates: processors differ in the order of sums of at most 256
/// terms, a relative error of 256 roundings of 6e-8 at most in each of some ten matmuls of a step.
constexpr double rounding = 1e-3;

}  // namespace

TEST_CASE("a run that an earlier commit began resumes with the losses that it would have had") {
    NEEDS_TRAIN();
    for (const char* const commit : commits) {
        CAPTURE(commit);
        const OldRun old(commit);
        const auto expected = losses_of(old / "run");
        CHECK(expected.size() == 2 * 8 + 2 * 2);
        const CommandResult resumed =
            train(old / "experiment.json", old / "run", "--set data.training_shards=" + (old / "shards").string());
        INFO(resumed.err);
        REQUIRE(resumed.exit_code == 0);
        CHECK(fs::exists(old / "run/checkpoints/step_00000008/COMPLETE.json"));
        const auto found = losses_of(old / "run");
        REQUIRE(found.size() == expected.size());
        for (const auto& [name, loss] : expected) {
            CAPTURE(name, loss, found.at(name));
            CHECK(std::abs(found.at(name) - loss) < rounding);
        }
    }
}

TEST_CASE("a run that an earlier commit began is evaluated and exported") {
    NEEDS_TRAIN();
    for (const char* const commit : commits) {
        CAPTURE(commit);
        const OldRun old(commit);
        const CommandResult evaluated =
            run_command("env OMP_NUM_THREADS=1 " + train_program + " evaluate " + (old / "run").string() + " --shards " +
                        (old / "shards").string() + " --json");
        INFO(evaluated.err);
        REQUIRE(evaluated.exit_code == 0);
        const json evaluation = json::parse(evaluated.out);
        CHECK(evaluation.at("step") == 4);
        CHECK(std::abs(evaluation.at("mlm_loss").get<double>() - losses_of(old / "run").at("held_out_mlm_loss 4")) < rounding);
        for (const std::string format : {"hf", "state_dict", "nvidia", "torchscript"}) {
            const CommandResult made = run_command(train_program + " export " + (old / "run").string() + " --format " + format +
                                                   " --output " + (old / format).string());
            INFO(made.err);
            CHECK(made.exit_code == 0);
            CHECK(fs::exists(old / format));
        }
    }
}
