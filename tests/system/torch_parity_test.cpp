// Training gives the same numbers as PyTorch with Hugging Face's model.

#include <cmath>
#include <sstream>

#include "support/catch.h"
#include "system/evaluation_bounds.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

bool oracle_ran(const CommandResult& script) {
    if (lacks_package(script)) return false;
    INFO(script.err);
    REQUIRE(script.exit_code == 0);
    return true;
}

/// Compares each step's losses and gradient norm. @param theirs a line of JSON per step
void compare_steps(const std::vector<std::string>& ours, const std::string& theirs) {
    REQUIRE(ours.size() == 100);
    std::istringstream lines(theirs);
    double largest = 0;
    for (const std::string& our_line : ours) {
        std::string line;
        REQUIRE(std::getline(lines, line));
        const json here = json::parse(our_line), torch = json::parse(line);
        CHECK(here.contains("nsp_loss") == torch.contains("nsp_loss"));
        for (const auto& [name, value] : torch.items()) {
            const double difference = std::fabs(here.at(name).get<double>() - value.get<double>());
            INFO(name << " of " << our_line << "\nPyTorch: " << line);
            CHECK(difference < 1e-4);
            largest = std::max(largest, difference);
        }
    }
    INFO("largest difference: " << largest);
    CHECK(json::parse(ours.back()).at("loss").get<double>() < json::parse(ours.front()).at("loss").get<double>() - 2);
}

}  // namespace

TEST_CASE("a hundred AdamW steps have the losses and gradient norms of a plain PyTorch loop, with and without next sentences") {
    NEEDS_TRAIN();
    for (const std::string objective : {"mlm_nsp", "mlm"}) {
        CAPTURE(objective);
        const TemporaryFolder folder;
        const fs::path shard = folder / "shards/part_training_0000.h5";
        if (!make_one_batch(folder / "shards", objective == "mlm" ? shards_without_labels() : sample_data().shards))
            SKIP_TEST(skip::no_oracle, "no Python with h5py");
        const fs::path config =
            write_experiment(folder, {{"model", {{"hidden_dropout_prob", 0}, {"attention_probs_dropout_prob", 0}}},
                                      {"data", {{"training_shards", (folder / "shards").string()}, {"objective", objective}}},
                                      {"batch", {{"micro_batch_size", 8}}},
                                      {"schedule", {{"total_steps", 100}}},
                                      {"checkpoint", {{"save_every_steps", 0}}},
                                      {"evaluation", {{"every_steps", 0}}}});
        REQUIRE(train(config, folder / "run").exit_code == 0);
        // The learning rate of a linear schedule's last step is 0, so a run of one step saves the initial weights.
        REQUIRE(train(config, folder / "start", "--set schedule.total_steps=1").exit_code == 0);
        const CommandResult oracle =
            run_command("OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/torch_training.py " +
                        (folder / "start/checkpoints/step_00000001").string() + " " + shard.string() + " 100");
        if (!oracle_ran(oracle)) SKIP_TEST(skip::no_oracle, "no Python with torch, transformers and h5py");
        compare_steps(numbers_of(folder / "run"), oracle.out);
    }
}

TEST_CASE("a checkpoint loads strictly into Hugging Face's model, which has our held-out losses") {
    NEEDS_TRAIN();
    const fs::path checkpoint = finished_run().run / "checkpoints/step_00000020", shards = sample_data().shards;
    const CommandResult oracle = run_command("OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/hf_evaluation.py " +
                                             checkpoint.string() + " " + (shards / "sample_test_0000.h5").string());
    if (!oracle_ran(oracle)) SKIP_TEST(skip::no_oracle, "no Python with torch, transformers and h5py");
    const CommandResult evaluated = run_command("OMP_NUM_THREADS=1 " + train_program + " evaluate " + checkpoint.string() +
                                                " --shards " + shards.string() + " --json");
    INFO(evaluated.err);
    REQUIRE(evaluated.exit_code == 0);
    const json theirs = json::parse(oracle.out), ours = json::parse(evaluated.out);
    CHECK(ours.at("step") == 20);
    for (const auto& [name, value] : theirs.items()) {
        INFO(name << ": " << ours.at(name) << ", Hugging Face: " << value);
        const double there = value.get<double>(), bound = evaluation_bound(name, there, ours.at("sequences").get<double>());
        CHECK(std::fabs(ours.at(name).get<double>() - there) <= bound);
    }
}
