// Ranks whose hosts have their own copies of settings and shards train only if these agree.

#include "distributed/ranks.h"
#include "support/catch.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

/// Checks that both ranks end with exit 2 and print `words`.
void check_refused(const std::string& of_second, const std::vector<std::string>& words) {
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder);
    INFO(of_second);
    CHECK(train_two(config, folder / "run", "", of_second) == std::vector<int>{2, 2});
    CHECK(missing_words(read_text(folder / "run/exit.json"), words) == "");
    CHECK_FALSE(fs::exists(folder / "run/checkpoints"));
}

}  // namespace

TEST_CASE("ranks with other settings than rank 0's are refused with both values") {
    NEEDS_TRAIN();
    check_refused("--set optimizer.learning_rate=0.002", {"optimizer.learning_rate", "0.001 on rank 0", "0.002 on rank 1"});
    check_refused("--set initialization.init_from=README.md", {"initialization.init_from", "null on rank 0"});
}

TEST_CASE("ranks with other shards than rank 0's are refused") {
    NEEDS_TRAIN();
    const TemporaryFolder other;
    const fs::path shards = other / "shards";
    fs::create_directory(shards);
    for (const char* file : {"sample_training_0000.h5", "sample_test_0000.h5"})
        fs::copy(sample_data().shards / file, shards / file);
    check_refused("--set data.training_shards=" + shards.string(), {"the data: ", "files 2", "files 1", "rank 1"});
}

TEST_CASE("the path of the shards and how they are read may differ between hosts") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    fs::copy(sample_data().shards, folder / "copy");
    const auto config = write_distributed_experiment(folder, {{"schedule", {{"total_steps", 3}}}});
    CHECK(train_two(config, folder / "run", "",
                    "--set data.loader_threads=1 --set about=mine --set data.training_shards=" + (folder / "copy").string()) ==
          std::vector<int>{0, 0});
}
