// training.dropout_seed changes the dropout masks only.

#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;

namespace {

std::vector<std::string> one_step(const TemporaryFolder& folder, const std::string& name, const std::string& options) {
    const auto config = write_experiment(folder, {{"schedule", {{"total_steps", 1}}}, {"checkpoint", {{"save_every_steps", 0}}}});
    REQUIRE(train(config, folder / name, options).exit_code == 0);
    return numbers_of(folder / name);
}

}  // namespace

TEST_CASE("a dropout seed changes the dropout masks, but neither initial weights nor samples") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const std::string without = " --set model.hidden_dropout_prob=0 --set model.attention_probs_dropout_prob=0",
                      other = "--set training.dropout_seed=8", same = "--set training.dropout_seed=7";
    CHECK(one_step(folder, "same", same) == one_step(folder, "own", ""));
    CHECK(one_step(folder, "other", other) != one_step(folder, "own_again", ""));
    CHECK(one_step(folder, "other_without", other + without) == one_step(folder, "own_without", without));
}
