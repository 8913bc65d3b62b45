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
    const std::string family = GENERATE("bert", "roberta", "xlm-roberta", "camembert", "modernbert", "neobert"),
                      model = folder / "model", part = folder / "shards/part_training_0000.h5";
    CAPTURE(family);
    constexpr int steps = 10;
    fs::create_directory(folder / "shards");
    const auto python = [](const std::string& arguments) {
        return run_command("OMP_NUM_THREADS=1 " PYTHON " tests/system/imported_training.py " + arguments);
    };
    const CommandResult made = python("make " + family + " " + model + " " +
                                      (shards_without_labels() / "sample_training_0000.h5").string() + " " + part);
    if (lacks_package(made)) SKIP_TEST(skip::no_oracle, "no Python with transformers and h5py");
    INFO(made.err);
    REQUIRE(made.exit_code == 0);
    const fs::path config = write_experiment(folder, {{"model", nullptr},
                                                      {"data",
                                                       {{"training_shards", (folder / "shards").string()},
                                                        {"vocabulary", sample_data().vocabulary.string()},
                                                        {"objective", "mlm"}}},
                                                      {"initialization", {{"init_from", model}}},
                                                      {"batch", {{"micro_batch_size", 8}}},
                                                      {"schedule", {{"total_steps", steps}}},
                                                      {"checkpoint", {{"save_every_steps", 0}}},
                                                      {"evaluation", {{"every_steps", 0}}}});
    const CommandResult trained = train(config, folder / "run");
    INFO(trained.err);
    REQUIRE(trained.exit_code == 0);
    const CommandResult oracle =
        python("train " + model + " " + part + " " + (folder / "run/settings.json").string() + " " + std::to_string(steps));
    INFO(oracle.err);
    REQUIRE(oracle.exit_code == 0);
    const std::vector<std::string> ours = numbers_of(folder / "run");
    REQUIRE(ours.size() == steps);
    std::istringstream theirs(oracle.out);
    for (const std::string& line : ours) {
        double expected = 0;
        REQUIRE(theirs >> expected);
        CHECK(std::fabs(json::parse(line).at("loss").get<double>() / expected - 1) < 1e-5);
    }
}
