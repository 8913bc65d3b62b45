// Training runs on a GPU.

#include <csignal>
#include <filesystem>

#include "gpu/gpu.h"
#include "system/modern_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

namespace {

json on_gpu(const char* precision) { return {{"training", {{"device", "cuda"}, {"precision", precision}}}}; }

fs::path experiment_of(const std::string& model, const TemporaryFolder& folder, const json& patch) {
    if (model == "modernbert") return modern_experiment(folder, patch);
    return model == "neobert" ? neobert_experiment(folder, patch) : write_experiment(folder, patch);
}

double last_held_out_loss(const fs::path& run) {
    double loss = std::numeric_limits<double>::quiet_NaN();
    for (const std::string& line : numbers_of(run))
        if (const json record = json::parse(line); record.contains("held_out_mlm_loss"))
            loss = record.at("held_out_mlm_loss").get<double>();
    return loss;
}

/// Trains on the CPU. A copy goes on elsewhere from step 9, and on the CPU again from step 15. Checks that their held-out losses
/// are at most 0.1 % apart at every evaluation.
void check_that_it_moves(const std::string& environment, const std::string& options) {
    const TemporaryFolder folder;
    const fs::path config = write_experiment(
        folder, {{"evaluation", {{"every_steps", 2}}}, {"training", {{"device", "cpu"}, {"precision", "fp32"}}}});
    const auto go_on = [&](const std::string& run, const std::string& setup, const std::string& with) {
        const CommandResult result = run_command("env " + setup + " " + train_command(config, folder / run, with));
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
    };
    go_on("stays", "", "");
    fs::copy(folder / "stays", folder / "moves", fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    go_on("moves", environment, "--resume 9 " + options);
    go_on("moves", "", "--resume 15");
    const CommandResult compared =
        run_command(train_program + " compare --bound 0.001 " + (folder / "stays").string() + " " + (folder / "moves").string());
    INFO(compared.out + compared.err);
    CHECK(compared.exit_code == 0);
    CHECK(numbers_of(folder / "stays") != numbers_of(folder / "moves"));
}

}  // namespace

TEST_CASE("a run on a GPU that is stopped and resumed gives the numbers of an uninterrupted run", "[gpu]") {
    NEEDS_GPU();
    const auto [model, precision] = GENERATE(
        table<std::string, std::string>({{"bert", "fp32"}, {"bert", "bf16"}, {"modernbert", "bf16"}, {"neobert", "fp32"}}));
    CAPTURE(model, precision);
    const TemporaryFolder folder;
    const fs::path config = experiment_of(model, folder, on_gpu(precision.c_str())), whole = folder / "whole",
                   cut = folder / "cut";
    const CommandResult undisturbed = train(config, whole);
    INFO(undisturbed.err);
    REQUIRE(undisturbed.exit_code == 0);
    fs::copy(whole, cut, fs::copy_options::recursive);
    for (const fs::path& later : fs::directory_iterator(cut / "checkpoints"))
        if (later.filename() != "step_00000009") fs::remove_all(later);
    const CommandResult resumed = train(config, cut);
    INFO(resumed.err);
    REQUIRE(resumed.exit_code == 0);
    CHECK(missing_words(resumed.err, {"going on from step 9"}) == "");
    CHECK(first_difference(numbers_of(whole), numbers_of(cut)) == "");
}

TEST_CASE("a run on a GPU learns like one on the CPU", "[gpu]") {
    NEEDS_GPU();
    const std::string model = GENERATE("bert", "modernbert", "neobert");
    CAPTURE(model);
    const TemporaryFolder folder;
    for (const char* device : {"cuda", "cpu"}) {
        const json patch{{"training", {{"device", device}, {"precision", "fp32"}}}};
        const CommandResult result = train(experiment_of(model, folder, patch), folder / device);
        INFO(result.err);
        REQUIRE(result.exit_code == 0);
    }
    const double here = last_held_out_loss(folder / "cpu"), there = last_held_out_loss(folder / "cuda");
    CHECK(std::abs(there - here) < 0.001 * here);  // same samples and, in fp32, the CPU's dropout masks
}

TEST_CASE("a run on a GPU whose kernels start early has the bits of one whose kernels do not", "[gpu]") {
    NEEDS_GPU();
    const std::string model = GENERATE("bert", "modernbert");
    CAPTURE(model);
    const TemporaryFolder folder;
    for (const bool early : {false, true}) {
        json patch = on_gpu("bf16");
        patch["training"].update({{"gpu_kernels", "fused"}, {"early_launches", early}});
        const CommandResult run = train(experiment_of(model, folder, patch), folder / (early ? "early" : "usual"));
        INFO(run.err);
        REQUIRE(run.exit_code == 0);
    }
    CHECK(first_difference(numbers_of(folder / "usual"), numbers_of(folder / "early")) == "");
}

TEST_CASE("a run that moves from the CPU to a GPU and back is at most 0.1 % from the one that stays", "[gpu]") {
    NEEDS_GPU();
    check_that_it_moves("", "--set training.device=cuda");
}

TEST_CASE("a run that moves to other kernels and back is at most 0.1 % from the one that stays") {
    NEEDS_TRAIN();
    check_that_it_moves("BERTPRETRAIN_CPU_CAPABILITY=reference", "");
}
