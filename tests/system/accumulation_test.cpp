// The split of a global batch into micro-batches does not change the result, with dropout too.

#include <cmath>

#include "support/catch.h"
#include "system/small_run.h"

using namespace bertpretrain::testing;

namespace {

std::string cut(int micro_batch_size, int gradient_accumulation_steps) {
    return "--set batch.micro_batch_size=" + std::to_string(micro_batch_size) +
           " --set batch.gradient_accumulation_steps=" + std::to_string(gradient_accumulation_steps);
}

}  // namespace

TEST_CASE("24 sequences as 4 x 6, 8 x 3 and 24 x 1 train the same model, with dropout, and 4 x 6 by twelves") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_experiment(folder, {{"checkpoint", {{"save_every_steps", 0}}}});
    REQUIRE(train(config, folder / "4x6", cut(4, 6)).exit_code == 0);
    REQUIRE(train(config, folder / "8x3", cut(8, 3)).exit_code == 0);
    REQUIRE(train(config, folder / "24x1", cut(24, 1)).exit_code == 0);
    const CommandResult merged = train(config, folder / "merged", cut(4, 6) + " --set batch.device_micro_batch=12");
    REQUIRE(merged.exit_code == 0);
    const auto by_4 = numbers_of(folder / "4x6"), by_8 = numbers_of(folder / "8x3"), by_24 = numbers_of(folder / "24x1");
    CHECK(by_4.size() == 22);
    REQUIRE(by_8.size() == by_4.size());
    REQUIRE(by_24.size() == by_4.size());
    CHECK(largest_difference(by_4, by_8) < 1e-5);
    CHECK(largest_difference(by_4, by_24) < 1e-5);
    CHECK(largest_difference(by_4, numbers_of(folder / "merged")) < 1e-5);
    CHECK(numbers_of(folder / "merged") != by_4);  // merged: sums are added in another order
    CHECK(missing_words(merged.out + merged.err, {"in 2 micro-batch(es) of up to 12"}) == "");

    // without dropout the first loss differs, so dropout was on
    const std::string without =
        " --set schedule.total_steps=1 --set model.hidden_dropout_prob=0 --set model.attention_probs_dropout_prob=0";
    REQUIRE(train(config, folder / "without", cut(24, 1) + without).exit_code == 0);
    const double loss = nlohmann::json::parse(numbers_of(folder / "without").front()).at("loss").get<double>();
    CHECK(std::fabs(loss - nlohmann::json::parse(by_24.front()).at("loss").get<double>()) > 1e-4);
}
