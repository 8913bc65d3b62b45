// Training with dynamic masking, as a user runs it.

#include <csignal>

#include "support/catch.h"
#include "support/process.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;
namespace fs = std::filesystem;

namespace {

const nlohmann::json dynamic_whole_words = {{"data", {{"masking", "dynamic"}, {"whole_word_masking", true}}}};
const nlohmann::json spans = {{"data", {{"masking", "dynamic"}, {"mask_span", 6}}}};
const nlohmann::json spans_of_words = {
    {"data", {{"masking", "dynamic"}, {"whole_word_masking", true}, {"mask_span", 10}, {"mask_span_lengths", "geometric"}}}};
const nlohmann::json modern = {
    {"data", {{"masking", "dynamic"}, {"masked_lm_prob", 0.3}, {"mask_special_tokens", true}, {"objective", "mlm"}}},
    {"optimizer", {{"name", "stable_adamw"}, {"max_grad_norm", 0}, {"betas", {0.9, 0.98}}, {"weight_decay", 1e-5}}},
    {"schedule", {{"name", "wsd"}, {"decay_ratio", 0.5}, {"final_ratio", 0.001}}}};

}  // namespace

TEST_CASE("a killed run with dynamic masking resumes with the same masks, and another masking setting gives another run") {
    NEEDS_TRAIN();
    const nlohmann::json changes = GENERATE(dynamic_whole_words, modern, spans, spans_of_words);
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
    const auto refusal = [&](const std::string& options) {
        const CommandResult refused = train(config, folder / "run", options);
        CHECK(refused.exit_code == 2);
        return refused.err;
    };
    CHECK(missing_words(refusal("--set data.mask_span=11"), {"data.mask_span = 11: is longer than the 10 tokens"}) == "");
    CHECK(missing_words(refusal("--set data.mask_span_lengths=geometric"), {"has no effect with data.mask_span = 1"}) == "");
    CHECK(missing_words(refusal("--set data.mask_span=2 --set data.whole_word_masking=false --set data.mask_special_tokens=true"),
                        {"data.mask_span = 2 and data.mask_special_tokens", "belong to no span"}) == "");
    CHECK(missing_words(refusal("--set data.mask_span=2 --set data.whole_word_masking=false --set data.masking=as_stored"),
                        {"data.mask_span", "set data.masking to \"dynamic\""}) == "");
}

TEST_CASE("masks of spans do not depend on the number of ranks or on the micro-batch, and an audit draws them again") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    nlohmann::json changes = spans;
    changes["training"] = {{"precision", "fp32"}};
    changes["schedule"] = {{"total_steps", 6}};
    const fs::path config = write_experiment(folder, changes);
    REQUIRE(train(config, folder / "one").exit_code == 0);
    REQUIRE(
        train(config, folder / "small", "--set batch.micro_batch_size=2 --set batch.gradient_accumulation_steps=4").exit_code ==
        0);
    REQUIRE(train(config, folder / "two", "--local-ranks 2 --set batch.gradient_accumulation_steps=1").exit_code == 0);
    const auto one = numbers_of(folder / "one");
    CHECK(largest_difference(one, numbers_of(folder / "small")) < 1e-4);
    CHECK(largest_difference(one, numbers_of(folder / "two")) < 1e-4);
    const CommandResult audit = run_command("env OMP_NUM_THREADS=1 " + train_program + " audit " + (folder / "one").string());
    INFO(audit.out << audit.err);
    CHECK(audit.exit_code == 0);
    CHECK(audit.out.find("equal to the bit") != std::string::npos);
}
