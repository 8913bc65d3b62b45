#include "plan/memory_plan.h"

#include "core/error.h"
#include "core/strings.h"
#include "model/bert/parameters.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/plans.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr std::int64_t threads = 4;  // that compute a rank's operations

}  // namespace

TEST_CASE("5B takes 2 + 4 + 12/W bytes per parameter and rank, and room for two buckets") {
    const auto ranks = GENERATE(as<std::int64_t>(), 1, 4, 8, 64, 128);
    const ExperimentConfig experiment = load_experiment(PROJECT_FOLDER "/configs/bert_5b.json", {"parallel.gradient_dtype=fp32"});
    const ParameterLayout layout = layout_of(experiment.model, experiment.parallel.bucket_mib, ranks);
    const auto parameters = static_cast<double>(layout.parameter_elements());
    CHECK(parameters > 4.9e9);
    const MemoryPlan plan = plan_memory(plan_of(experiment, layout.shards()), layout, threads);
    CAPTURE(ranks, plan.text());
    const double per_parameter = static_cast<double>(plan.total() - plan.transfer - plan.attention - plan.snapshot) / parameters;
    CHECK(per_parameter == Approx(6 + 12.0 / static_cast<double>(ranks)).epsilon(0.01));  // slices end at whole blocks
    CHECK(static_cast<double>(plan.transfer) < 0.025 * 4 * parameters);
}

TEST_CASE("bf16 gradients take 2 bytes per parameter of the encoder, where several ranks share the optimizer") {
    ExperimentConfig experiment = load_experiment(PROJECT_FOLDER "/configs/bert_5b.json", {});
    const ParameterLayout layout = layout_of(experiment.model, experiment.parallel.bucket_mib, 8);
    const auto parameters = static_cast<double>(layout.parameter_elements());
    CHECK(static_cast<double>(plan_memory(plan_of(experiment, layout.shards()), layout, threads).gradients) / parameters ==
          Approx(2.03).margin(0.02));
    experiment.parallel.zero_stage = 0;
    CHECK(static_cast<double>(plan_memory(plan_of(experiment, layout.shards()), layout, threads).gradients) / parameters ==
          Approx(4).margin(0.02));
    experiment.parallel.zero_stage = 1;
    const ParameterLayout alone = layout_of(experiment.model, experiment.parallel.bucket_mib, 1);
    CHECK(static_cast<double>(plan_memory(plan_of(experiment), alone, threads).gradients) / parameters == Approx(4).margin(0.02));
}

TEST_CASE("the planned pass is the largest that fits, and one that was measured where the program does not run") {
    constexpr double no_limit = 1e18;
    const auto pass = [](const char* config, std::int64_t ranks, double gib, double tokens,
                         const std::vector<std::string>& settings = {}) {
        const RequestedExperiment experiment = request_experiment(std::string(PROJECT_FOLDER "/configs/") + config, settings);
        const RunPlan plan = plan_of(experiment, ranks, /*gpus=*/8);
        return planned_pass(plan, layout_of(plan.settings.model, plan.settings.parallel.bucket_mib, ranks), gib * 0x1p30, tokens);
    };
    CHECK(pass("bert_large_8.json", 8, 74, no_limit) == 384);
    CHECK(pass("bert_large_8.json", 8, 74, 2048) == 16);
    CHECK(pass("bert_large_8.json", 8, 28, no_limit) == 192);
    CHECK(pass("bert_1.5b_8.json", 8, 28, no_limit) == 48);
    CHECK(pass("bert_1.5b_8.json", 8, 1, no_limit) == 16);  // not even a micro-batch fits
    CHECK(pass("bert_large_8.json", 8, 74, no_limit, {"batch.device_micro_batch=32"}) == 32);
}

TEST_CASE("a micro-batch that is larger than a rank's share of a step is planned with that share") {
    const auto planned = [](const std::string& micro_batch, std::int64_t gpus) {
        const RunPlan plan = plan_of(
            request_experiment(PROJECT_FOLDER "/configs/bert_large_8.json", {"batch.micro_batch_size=" + micro_batch}), 8, gpus);
        const ParameterLayout layout = layout_of(plan.settings.model, plan.settings.parallel.bucket_mib, 8);
        return std::pair(plan_memory(plan, layout, threads).activations, planned_pass(plan, layout, 1e18, 1e18));
    };
    for (const std::int64_t gpus : {0, 8}) {
        CHECK(planned("4096", gpus) == planned("384", gpus));
        CHECK(planned("4096", gpus).second == 384);
    }
}

TEST_CASE("memory for data follows the masks that the shards store, and memory for activations those of training") {
    RunPlan plan = plan_of(load_experiment(PROJECT_FOLDER "/configs/small.json", {}));
    const ParameterLayout layout = layout_of(plan.settings.model, plan.settings.parallel.bucket_mib, 1);
    const MemoryPlan before = plan_memory(plan, layout, threads);
    plan.data.stored_masked_lm_prob = 0.5;
    const MemoryPlan stored = plan_memory(plan, layout, threads);
    CHECK(static_cast<double>(stored.data) / static_cast<double>(before.data) == Approx((6 + 8 * 0.5) / (6 + 8 * 0.15)));
    CHECK(stored.activations == before.activations);
    plan.data.masked_lm_prob = 0.3;
    const MemoryPlan trained = plan_memory(plan, layout, threads);
    CHECK(trained.data == stored.data);
    CHECK(trained.activations > before.activations);
}

TEST_CASE("a snapshot takes 12/W bytes per parameter and rank at either stage, and nothing where there is none") {
    ExperimentConfig experiment = load_experiment(PROJECT_FOLDER "/configs/small.json", {});
    const ParameterLayout layout = layout_of(experiment.model, experiment.parallel.bucket_mib, 4);
    for (const std::int64_t stage : {0, 1}) {
        experiment.parallel.zero_stage = stage;
        CHECK(plan_memory(plan_of(experiment, layout.shards()), layout, threads).snapshot ==
              12 * static_cast<std::uint64_t>(layout.slice_elements()));
    }
    experiment.checkpoint.background = false;
    CHECK(plan_memory(plan_of(experiment, layout.shards()), layout, threads).snapshot == 0);
    experiment.checkpoint = {};
    experiment.checkpoint.save_every_steps = 0;
    CHECK(plan_memory(plan_of(experiment, layout.shards()), layout, threads).snapshot == 0);
}

TEST_CASE("ZeRO stage 0 keeps the optimizer's whole state on every rank") {
    ExperimentConfig experiment = load_experiment(PROJECT_FOLDER "/configs/small.json", {});
    const ParameterLayout layout = layout_of(experiment.model, experiment.parallel.bucket_mib, 4);
    const std::uint64_t shared = plan_memory(plan_of(experiment, layout.shards()), layout, threads).optimizer;
    experiment.parallel.zero_stage = 0;
    CHECK(plan_memory(plan_of(experiment, layout.shards()), layout, threads).optimizer == 4 * shared);
}

TEST_CASE("a model that the machine cannot hold is refused before memory is asked for") {
    MemoryPlan plan;
    plan.optimizer = std::uint64_t{1} << 50;
    CHECK_THROWS_AS(refuse_too_large(plan, 1, 128, 1), ConfigError);
    plan.optimizer = 1;
    CHECK_NOTHROW(refuse_too_large(plan, 1, 128, 2));
}

TEST_CASE("attention in bf16 keeps its dropout masks, one bit per probability") {
    const auto activations = [](const char* config, double dropout) {
        ExperimentConfig experiment = load_experiment(std::string(PROJECT_FOLDER "/configs/") + config, {});
        experiment.model.bert.attention_probs_dropout_prob = dropout;
        const RunPlan plan = plan_of(experiment);
        const auto bytes = plan_memory(plan, layout_of(experiment.model, experiment.parallel.bucket_mib, 1), threads).activations;
        return std::pair(static_cast<std::int64_t>(bytes), plan.pass_size());
    };
    const auto [config, length] = GENERATE(std::pair("bert_large_phase1.json", 128), std::pair("bert_large_phase2.json", 512));
    const auto [with, sequences] = activations(config, 0.1);
    CHECK(with - activations(config, 0).first == sequences * 24 * 16 * length * length / 8);  // layers, heads
}

TEST_CASE("layers with a window keep only the dropout masks of the keys around each 128 queries") {
    const TemporaryFolder folder;
    const auto activations = [&](const char* dropout, const char* checkpointing) {
        write_text(folder / "experiment.json", concat(R"({"model": {"model_type": "modernbert", "attention_dropout": )", dropout,
                                                      R"(}, "data": {"sequence_length": 1024, "objective": "mlm",)",
                                                      R"( "training_shards": "shards"}, "batch": {"micro_batch_size": 16}})"));
        const ExperimentConfig experiment =
            load_experiment((folder / "experiment.json").string(), {concat("training.activation_checkpointing=", checkpointing)});
        const RunPlan plan = plan_of(experiment);
        return static_cast<double>(
            plan_memory(plan, layout_of(experiment.model, experiment.parallel.bucket_mib, 1), threads).activations);
    };
    constexpr double tokens = 16 * 1024, heads = 12, bytes_of_128_keys = 16, of_global_layers = 8 * 8, of_local_layers = 14 * 3;
    CHECK(activations("0.1", "false") - activations("0", "false") ==
          Approx(tokens * heads * bytes_of_128_keys * (of_global_layers + of_local_layers)));
    CHECK(activations("0.1", "true") - activations("0", "true") ==
          Approx(tokens * heads * bytes_of_128_keys * 8));  // one layer's
}

TEST_CASE("on CPUs the plan counts what each thread's attention takes, which grows with the length and not with its square") {
    ExperimentConfig experiment = load_experiment(PROJECT_FOLDER "/configs/bert_large_phase2.json", {"training.device=cpu"});
    const ParameterLayout layout = layout_of(experiment.model, experiment.parallel.bucket_mib, 1);
    const auto planned = [&](std::int64_t length, std::int64_t computing) {
        experiment.data.sequence_length = experiment.model.bert.max_position_embeddings = length;
        return plan_memory(plan_of(experiment), layout, computing);
    };
    const std::uint64_t of_512 = planned(512, 1).attention, of_8192 = planned(8192, 1).attention;
    CHECK(of_512 >= std::uint64_t{6} * 512 * 512);  // bytes per score
    CHECK(of_512 <= std::uint64_t{12} * 512 * 512);
    CHECK(of_8192 <= std::uint64_t{64} << 20);
    CHECK(of_8192 <= 18 * of_512);
    CHECK(planned(512, 64).attention == 64 * of_512);
    CHECK(planned(8192, 64).total() - planned(8192, 1).total() == 63 * of_8192);
    CHECK(planned(8192, 64).text().find(", attention ") != std::string::npos);
    experiment.training.device = "auto";
    CHECK(plan_memory(plan_of(experiment, 1, /*gpus=*/1), layout, 64).attention == 0);
}

TEST_CASE("sequences whose attention the machine cannot hold are refused, and the message says what to lower") {
    MemoryPlan plan;
    plan.attention = std::uint64_t{1} << 50;
    std::string message;
    try {
        refuse_too_large(plan, 1000, 65'536, 1);
    } catch (const ConfigError& error) { message = error.what(); }
    for (const char* part : {"1,000 parameters", "65536 tokens", "attention 1", "lower data.sequence_length", "OMP_NUM_THREADS"})
        CHECK(message.find(part) != std::string::npos);
}
