// The mean of checkpoints, compared with torch and numpy.

#include "support/catch.h"
#include "system/refusal.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Prints how many weights of the first checkpoint are not the fp64 mean of the others, rounded to fp32.
const char* const oracle = R"(
import sys, numpy, torch
ours, *theirs = [torch.load(f"{folder}/model.pt", weights_only=True) for folder in sys.argv[1:]]
assert all(list(one) == list(ours) for one in theirs)
wrong = sum(int((numpy.mean([one[name].double().numpy() for one in theirs], axis=0).astype(numpy.float32)
                 != ours[name].numpy()).sum()) for name in ours)
state = torch.load(sys.argv[1] + "/optimizer.pt", weights_only=True)
print(wrong, sum(weights.numel() for weights in ours.values()) > 10000, state["state"])
)";

CommandResult average(const std::string& arguments) { return run_command(train_program + " average " + arguments); }

}  // namespace

TEST_CASE("a mean of checkpoints is torch's mean, names its sources, and is a checkpoint for every command") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path run = finished_run().run, checkpoints = run / "checkpoints", mean = folder / "mean",
                   step = mean / "step_00000020";
    const CommandResult made = average("--steps 20,12,15 " + run.string() + " --output " + mean.string());
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    CHECK(made.out == step.string() + "\n");
    const std::string sources = (checkpoints / "step_00000020").string() + " " + (checkpoints / "step_00000012").string() + " " +
                                (checkpoints / "step_00000015").string();
    write_text(folder / "oracle.py", oracle);
    const CommandResult python =
        run_command(WARM_PYTHON " " + (folder / "oracle.py").string() + " " + step.string() + " " + sources);
    INFO(python.err);
    CHECK(python.out == "0 True {}\n");

    const CommandResult named = average(sources + " --output " + (folder / "named").string());
    REQUIRE(named.exit_code == 0);
    CHECK(read_text(folder / "named/step_00000020/model.pt") == read_text(step / "model.pt"));

    REQUIRE(average("--steps 20,12:15 " + run.string() + " --output " + (folder / "range").string()).exit_code == 0);
    CHECK(read_text(folder / "range/step_00000020/model.pt") == read_text(step / "model.pt"));

    const CommandResult lineage = run_command(train_program + " inspect --lineage " + step.string());
    INFO(lineage.err);
    CHECK(lineage.exit_code == 0);
    for (const char* source : {"step_00000020", "step_00000012", "step_00000015"})
        CHECK(missing_words(lineage.out, {(checkpoints / source / "lineage.json").string()}) == "");
    CHECK_FALSE(nlohmann::json::parse(read_text(step / "training_state.json")).contains("held_out_mlm_loss"));

    CHECK(run_command(train_program + " inspect " + mean.string()).exit_code == 0);
    CHECK(
        run_command(train_program + " export " + mean.string() + " --format hf --output " + (folder / "hf").string()).exit_code ==
        0);
    const std::string start = "--set initialization.init_from=" + mean.string();
    CHECK(train(finished_run().config, folder / "next", start + " --set schedule.total_steps=2").exit_code == 0);
    const CommandResult moments =
        train(finished_run().config, folder / "moments", start + " --set initialization.init_moments=true");
    CHECK(moments.exit_code == 2);
    CHECK(missing_words(moments.err, {"initialization.init_moments", mean.string(), "has no moments"}) == "");
}

TEST_CASE("checkpoints that have no common mean are refused by name, and so is an output that exists") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string run = finished_run().run.string(), output = " --output " + (folder / "mean").string();
    const auto refuses = [&](const std::string& arguments, int exit_code, const std::vector<std::string>& words) {
        const CommandResult result = average(arguments);
        CAPTURE(arguments, result.err);
        CHECK(result.exit_code == exit_code);
        CHECK(missing_words(result.err, words) == "");
    };
    refuses(run + output, 2, {"at least two checkpoints", "--steps"});
    refuses(run + " " + run + output, 2, {"step_00000020", "is given twice"});
    refuses(run + " " + run + " --steps 15,20" + output, 2, {"--steps", "2 folders"});
    refuses(run + " --steps 16:17" + output, 4, {"no complete checkpoint of the steps 16:17", "complete ones: 3, 6"});
    refuses(run + " --steps 20:15" + output, 4, {"no complete checkpoint of the steps 20:15"});
    refuses(run + " --steps 15-18" + output, 2, {"--steps 15-18: expected a step or FIRST:LAST"});
    refuses(run + " --steps 15,16" + output, 4, {"no complete checkpoint of step 16"});
    refuses(run + " --steps 15,18 --output " + folder.path().parent_path().string(), 2, {"exists already"});
    const auto other = [&](const char* name, const nlohmann::json& model) {
        const fs::path config = write_experiment(folder, {{"model", model}, {"schedule", {{"total_steps", 1}}}});
        REQUIRE(train(config, folder / name).exit_code == 0);
        return (folder / name).string();
    };
    refuses(run + " " + other("wide", {{"intermediate_size", 96}}) + output, 2, {"wide", "has other tensors than"});
    refuses(run + " " + other("epsilon", {{"layer_norm_eps", 1e-5}}) + output, 2,
            {"epsilon", "computes otherwise than", "model.layer_norm_eps: 1e-05 in ", "leave this one out"});
    CHECK(average(run + " " + (folder / "epsilon").string() + output).err.find("init_changes") == std::string::npos);
    CHECK_FALSE(fs::exists(folder / "mean"));
}
