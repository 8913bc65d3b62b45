// Models of each family that is read train here as they do in PyTorch.
#include <cmath>
#include <sstream>

#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;
using nlohmann::json;

TEST_CASE("ten steps from a model of each family have PyTorch's losses, with the folder's own shape") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::vector<std::string> families{"bert", "roberta", "xlm-roberta", "camembert", "modernbert", "neobert"};
    const std::string shard = shards_without_labels() / "sample_training_0000.h5", part = folder / "shards/part_training_0000.h5";
    constexpr int steps = 10;
    fs::create_directory(folder / "shards");
    const auto python = [](const std::string& arguments) {  // once for all families, because it takes seconds to start
        return run_command("OMP_NUM_THREADS=1 " WARM_PYTHON " tests/system/imported_training.py " + arguments);
    };
    std::string models, models_and_runs;
    for (const std::string& family : families) {
        models += " " + (folder / family).string();
        models_and_runs += " " + (folder / family).string() + " " + (folder / (family + "_run")).string();
    }
    const CommandResult made = python("make " + shard + " " + part + models);
    if (lacks_package(made)) SKIP_TEST(skip::no_oracle, "no Python with transformers and h5py");
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    for (const std::string& family : families) {
        const fs::path config = write_experiment(folder, {{"model", nullptr},
                                                          {"data",
                                                           {{"training_shards", (folder / "shards").string()},
                                                            {"vocabulary", sample_data().vocabulary.string()},
                                                            {"objective", "mlm"}}},
                                                          {"initialization", {{"init_from", (folder / family).string()}}},
                                                          {"batch", {{"micro_batch_size", 8}}},
                                                          {"schedule", {{"total_steps", steps}}},
                                                          {"checkpoint", {{"save_every_steps", 0}}},
                                                          {"evaluation", {{"every_steps", 0}}}});
        const CommandResult trained = train(config, folder / (family + "_run"));
        INFO(trained.err);
        REQUIRE(trained.exit_code == 0);
    }
    const CommandResult oracle = python("train " + part + " " + std::to_string(steps) + models_and_runs);
    INFO(oracle.err);
    REQUIRE(oracle.exit_code == 0);
    for (const std::string& family : families) {
        CAPTURE(family);
        const std::vector<std::string> ours = numbers_of(folder / (family + "_run"));
        REQUIRE(ours.size() == steps);
        std::istringstream theirs(read_text(folder / (family + "_run/theirs")));
        for (const std::string& line : ours) {
            double expected = 0;
            REQUIRE(theirs >> expected);
            CHECK(std::fabs(json::parse(line).at("loss").get<double>() / expected - 1) < 1e-5);
        }
    }
}
