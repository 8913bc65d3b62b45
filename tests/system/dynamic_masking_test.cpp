// Training with dynamic masking, as a user runs it.

#include <csignal>

#include "support/catch.h"
#include "support/process.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

const nlohmann::json dynamic_whole_words = {{"data", {{"masking", "dynamic"}, {"whole_word_masking", true}}}};
const nlohmann::json modern = {
    {"data", {{"masking", "dynamic"}, {"masked_lm_prob", 0.3}, {"mask_special_tokens", true}, {"objective", "mlm"}}},
    {"optimizer", {{"name", "stable_adamw"}, {"max_grad_norm", 0}, {"betas", {0.9, 0.98}}, {"weight_decay", 1e-5}}},
    {"schedule", {{"name", "wsd"}, {"decay_ratio", 0.5}, {"final_ratio", 0.001}}}};

}  // namespace

TEST_CASE("a killed run with dynamic masking resumes with the same masks, and another masking setting gives another run") {
    NEEDS_TRAIN();
    const nlohmann::json changes = GENERATE(dynamic_whole_words, modern);
    CAPTURE(changes);
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, changes);
    REQUIRE(train(config, folder / "whole").exit_code == 0);
    const auto whole = numbers_of(folder / "whole");
    CHECK(first_difference(whole, numbers_of(finished_run().run)) != "");
    {
        Process process(train_command(config, folder / "killed"));
        REQUIRE(wait_until(process, [&] { return fs::exists(folder / "killed/checkpoints/step_00000006/COMPLETE.json"); }));
        process.send(SIGKILL);
        process.wait();
    }
    REQUIRE(train(config, folder / "killed").exit_code == 0);
    CHECK(first_difference(whole, numbers_of(folder / "killed")) == "");
}

TEST_CASE("dynamic masking needs a vocabulary, and a setting that would have no effect is refused") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const fs::path config = write_experiment(folder, dynamic_whole_words);
    fs::copy(sample_data().shards, folder / "shards");
    fs::remove(folder / "shards/vocab.txt");
    const CommandResult without = train(config, folder / "run", "--set data.training_shards=" + (folder / "shards").string());
    CHECK(without.exit_code == 2);
    CHECK(missing_words(without.err, {"data.masking", "vocab.txt", "set data.vocabulary"}) == "");
    const CommandResult idle = train(config, folder / "run", "--set data.masking=as_stored");
    CHECK(idle.exit_code == 2);
    CHECK(missing_words(idle.err, {"data.whole_word_masking", "set data.masking to \"dynamic\""}) == "");
    const CommandResult both = train(config, folder / "run", "--set data.mask_special_tokens=true");
    CHECK(both.exit_code == 2);
    CHECK(missing_words(both.err, {"data.whole_word_masking", "data.mask_special_tokens", "belong to no word"}) == "");
}
