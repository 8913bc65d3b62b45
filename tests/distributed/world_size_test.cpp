// The result does not depend on the number of ranks or on how they share the optimizer's state.
#include <cmath>

#include "distributed/ranks.h"
#include "support/catch.h"

using namespace bertpretrain::testing;

namespace {

/// Returns the largest difference between the training losses of two runs at the same step, as a share of the loss.
double largest_loss_difference(const std::filesystem::path& run_a, const std::filesystem::path& run_b) {
    const auto losses = [](const std::filesystem::path& run) {
        std::vector<double> found;
        for (const std::string& line : numbers_of(run)) {
            const auto numbers = nlohmann::json::parse(line);
            if (numbers.contains("loss")) found.push_back(numbers.at("loss").get<double>());  // not an evaluation
        }
        return found;
    };
    const std::vector<double> a = losses(run_a), b = losses(run_b);
    REQUIRE((!a.empty() && a.size() == b.size()));
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::fabs(a[i] - b[i]) / a[i]);
    return largest;
}

}  // namespace

TEST_CASE("1, 2, 3 and 4 ranks at ZeRO stages 0 and 1 train the same model, with dropout and clipping") {
    NEEDS_TRAIN();
    const std::string optimizer = GENERATE("adamw", "lamb", "lans", "stable_adamw");
    CAPTURE(optimizer);
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, {{"optimizer", {{"name", optimizer}}}});
    REQUIRE(train(config, folder / "alone").exit_code == 0);
    REQUIRE(numbers_of(folder / "alone").size() == 33);
    for (const int ranks : {2, 3, 4}) {
        CAPTURE(ranks);
        const std::string options = "--local-ranks " + std::to_string(ranks) + " --set parallel.zero_stage=";
        const auto stage_0 = folder / ("ddp" + std::to_string(ranks)), stage_1 = folder / ("zero" + std::to_string(ranks));
        REQUIRE(train(config, stage_0, options + "0").exit_code == 0);
        REQUIRE(train(config, stage_1, options + "1").exit_code == 0);
        CHECK(largest_difference(folder / "alone", stage_1) < 1e-5);
        CHECK(parameter_difference(folder / "alone", stage_1) < 1e-5);
        CHECK(largest_difference(stage_0, stage_1) == 0);
        const std::string model = "checkpoints/step_00000030/model.pt", state = "checkpoints/step_00000030/optimizer.pt";
        CHECK((read_text(stage_0 / model) == read_text(stage_1 / model)));
        CHECK((read_text(stage_0 / state) == read_text(stage_1 / state)));
    }
}

TEST_CASE("in bf16, 1, 2, 3 and 8 ranks have the same losses but for 0.1 %, and another seed has others") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config =
        write_distributed_experiment(folder, {{"training", {{"precision", "bf16"}}}, {"optimizer", {{"name", "lans"}}}});
    REQUIRE(train(config, folder / "alone").exit_code == 0);
    for (const int ranks : {2, 3, 8}) {
        CAPTURE(ranks);
        const auto run = folder / std::to_string(ranks);
        REQUIRE(train(config, run, "--local-ranks " + std::to_string(ranks)).exit_code == 0);
        CHECK(largest_loss_difference(folder / "alone", run) < 1e-3);
        CHECK(largest_difference(folder / "alone", run) < 1e-2);  // with the gradient norm
    }
    REQUIRE(train(config, folder / "other", "--set training.seed=8").exit_code == 0);
    CHECK(largest_loss_difference(folder / "alone", folder / "other") > 1e-3);
}

TEST_CASE("sending gradients as bf16 is a setting, and changes a run a little") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder);
    REQUIRE(train(config, folder / "fp32", "--local-ranks 2").exit_code == 0);
    REQUIRE(train(config, folder / "bf16", "--local-ranks 2 --set parallel.reduce_dtype=bf16").exit_code == 0);
    const double difference = largest_difference(folder / "fp32", folder / "bf16");
    CHECK(difference > 0);
    CHECK(difference < 0.05);
    const auto sent = [&](const char* run) {
        return nlohmann::json::parse(numbers_of(folder / run).front()).at("bytes_sent").get<double>();
    };
    CHECK(sent("bf16") < 0.8 * sent("fp32"));
}

TEST_CASE("gradients stored in bf16 change a run a little, take less memory, and resume in fp32 on one rank") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, {{"training", {{"precision", "bf16"}}}});
    const std::string narrow = " --set parallel.gradient_dtype=bf16";
    REQUIRE(train(config, folder / "fp32", "--local-ranks 2").exit_code == 0);
    REQUIRE(train(config, folder / "bf16", "--local-ranks 2" + narrow).exit_code == 0);
    const double difference = largest_difference(folder / "fp32", folder / "bf16");
    CHECK(difference > 0);
    CHECK(difference < 0.05);
    const auto sent = [&](const char* run) {
        return nlohmann::json::parse(numbers_of(folder / run).front()).at("bytes_sent").get<double>();
    };
    CHECK(sent("bf16") < 0.9 * sent("fp32"));
    REQUIRE(train(config, folder / "bf16", narrow + " --set schedule.total_steps=33").exit_code == 0);
    CHECK(last_step(folder / "bf16") == 33);
    const CommandResult refused = train(config, folder / "ddp", "--local-ranks 2 --set parallel.zero_stage=0" + narrow);
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Catch::Contains("parallel.gradient_dtype = \"bf16\" with parallel.zero_stage = 0"));
}

TEST_CASE("a residual in bf16 changes a run a little, however many ranks and micro-batches, and is refused beside fp32") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, {{"training", {{"precision", "bf16"}}}});
    const std::string narrow = " --set training.residual_dtype=bf16";
    REQUIRE(train(config, folder / "fp32").exit_code == 0);
    REQUIRE(train(config, folder / "bf16", narrow).exit_code == 0);
    CHECK(largest_loss_difference(folder / "fp32", folder / "bf16") > 0);
    CHECK(largest_loss_difference(folder / "fp32", folder / "bf16") < 0.02);
    REQUIRE(train(config, folder / "two", "--local-ranks 2 --set batch.micro_batch_size=1" + narrow).exit_code == 0);
    CHECK(largest_loss_difference(folder / "bf16", folder / "two") < 2e-3);
    const CommandResult changed = train(config, folder / "bf16", "--set schedule.total_steps=33");
    CHECK(changed.exit_code == 2);
    CHECK_THAT(changed.err, Catch::Contains("training.residual_dtype"));
    const CommandResult refused = train(config, folder / "no", "--set training.precision=fp32" + narrow);
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Catch::Contains("training.residual_dtype = \"bf16\" with training.precision = \"fp32\""));
}

TEST_CASE("matmuls in fp8 change a run a little, however many ranks and micro-batches, and resume bit for bit") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, {{"training", {{"precision", "bf16"}}}});
    const std::string in_fp8 = " --set training.fp8_matmuls=true --set training.cpu_matmul=onednn";
    REQUIRE(train(config, folder / "bf16", "--set training.cpu_matmul=onednn").exit_code == 0);
    REQUIRE(train(config, folder / "fp8", in_fp8).exit_code == 0);
    CHECK(largest_loss_difference(folder / "bf16", folder / "fp8") > 0);
    CHECK(largest_loss_difference(folder / "bf16", folder / "fp8") < 0.05);
    for (const char* stage : {"0", "1"}) {
        const auto run = folder / ("two" + std::string(stage));
        REQUIRE(
            train(config, run, concat("--local-ranks 2 --set batch.micro_batch_size=1 --set parallel.zero_stage=", stage, in_fp8))
                .exit_code == 0);
        CHECK(largest_loss_difference(folder / "fp8", run) < 2e-3);
    }
    const std::vector<std::string> before = numbers_of(folder / "fp8");
    REQUIRE(train(config, folder / "fp8", "--resume 20" + in_fp8).exit_code == 0);
    CHECK((numbers_of(folder / "fp8") == before));
    const CommandResult refused = train(config, folder / "no", "--set training.precision=fp32" + in_fp8);
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Catch::Contains("training.fp8_matmuls with training.precision = \"fp32\""));
    const CommandResult odd =
        train(config, folder / "no", "--set model.hidden_size=72 --set model.num_attention_heads=4" + in_fp8);
    CHECK(odd.exit_code == 2);
    CHECK_THAT(odd.err, Catch::Contains("both must be multiples of 16"));
}

TEST_CASE("a batch that the ranks do not divide is split unevenly, with every sequence's weight kept") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder, {{"batch", {{"global_batch_size", 23}}}});
    REQUIRE(train(config, folder / "alone").exit_code == 0);
    REQUIRE(train(config, folder / "three", "--local-ranks 3").exit_code == 0);
    CHECK(largest_difference(folder / "alone", folder / "three") < 1e-5);
}

TEST_CASE("cross checks change no loss, on 1, 2 and 3 ranks and in bf16") {
    NEEDS_TRAIN();
    const TemporaryFolder folder;
    const auto config = write_distributed_experiment(folder);
    int number = 0;
    for (const std::string options : {"", "--local-ranks 2", "--local-ranks 3 --set training.precision=bf16"}) {
        CAPTURE(options);
        const std::string run = std::to_string(++number);
        const auto plain = folder / ("plain" + run), checked = folder / ("checked" + run);
        REQUIRE(train(config, plain, options).exit_code == 0);
        REQUIRE(train(config, checked, options + " --set training.cross_check_every_steps=1").exit_code == 0);
        CHECK(largest_difference(plain, checked) == 0);
    }
}
