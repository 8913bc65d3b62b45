#include "train/start/matmul_choice.h"

#include "core/error.h"
#include "kernels/matmul_libraries.h"
#include "operations/measure_matmul_libraries.h"
#include "parallel/world.h"
#include "plan/kept_choices.h"
#include "plan/resolve.h"
#include "support/catch.h"
#include "support/skip.h"

using namespace bertpretrain;
using nlohmann::json;

namespace {

ExperimentConfig with_cpu_matmul(const std::string& cpu_matmul) {
    ExperimentConfig experiment;
    experiment.model.bert.hidden_size = 64;
    experiment.model.bert.intermediate_size = 256;
    experiment.model.bert.vocab_size = 800;
    experiment.batch.micro_batch_size = 2;
    experiment.training.cpu_matmul = cpu_matmul;
    return experiment;
}

/// What the next checkpoint keeps.
json choose(const ExperimentConfig& experiment, const json& kept = nullptr, bool on_cpu = true) {
    SingleProcess alone;
    MachineFacts machine = look_at_machine();
    machine.gpus = on_cpu ? 0 : 1;
    TrainingProgress progress;
    progress.global_batch_sequences = 8;
    progress.cpu_products = kept;
    const CheckpointFacts checkpoint{experiment, progress};
    RunPlan plan = resolve(experiment, Launch{}, machine, {}, &checkpoint);
    choose_matmul_libraries(alone, plan);
    return kept_matmul(plan.compute);
}

struct NoChoiceLeft {
    ~NoChoiceLeft() { use_matmul_libraries({}); }
};

}  // namespace

/// Skips the test where there is no second library to choose.
#define NEEDS_A_CHOICE()                                           \
    const NoChoiceLeft none;                                       \
    if (!has_bf16_matmul()) SKIP_TEST(testing::skip::no_bf16, ""); \
    if (!has(MatmulLibrary::mkl)) SKIP_TEST(testing::skip::no_mkl, "")

TEST_CASE("a fresh run chooses for each product of the model, and without AMX never by the clock") {
    NEEDS_A_CHOICE();
    const json chosen = choose(with_cpu_matmul("measured"));
    CHECK(chosen.size() == 15);
    for (const char* name : {"forward 192x64", "input_gradient 256x64", "weight_gradient 64x256", "forward 800x64"})
        CHECK((chosen.at(name) == name_of(default_matmul_library()) || may_others_be_faster()));
}

TEST_CASE("measuring finds a library for each product, and leaves the process without a choice") {
    NEEDS_A_CHOICE();
    const ExperimentConfig experiment = with_cpu_matmul("measured");
    const MatmulLibraries found = measure_matmul_libraries(experiment.model, 256);
    const std::vector<LinearShape> products = matmuls_of(experiment.model);
    CHECK(found.size() == products.size());
    for (const LinearShape& shape : products) {
        CHECK(found.count(shape) == 1);
        CHECK((matmul_library(shape) == default_matmul_library()));
    }
}

TEST_CASE("what a checkpoint keeps is not measured again, but what the experiment names goes before it") {
    NEEDS_A_CHOICE();
    const json kept{{"forward 64x64", "mkl"}, {"input_gradient 64x64", "onednn"}};
    CHECK(choose(with_cpu_matmul("measured"), kept) == kept);
    CHECK((matmul_library({LinearMatmul::forward, 64, 64}) == MatmulLibrary::mkl));
    CHECK((matmul_library({LinearMatmul::input_gradient, 64, 64}) == MatmulLibrary::onednn));
    CHECK(choose(with_cpu_matmul("onednn"), kept).at("forward 64x64") == "onednn");
    CHECK(choose(with_cpu_matmul("mkl"), kept).at("input_gradient 64x64") == "mkl");
    CHECK((matmul_library({LinearMatmul::input_gradient, 64, 64}) == MatmulLibrary::mkl));
}

TEST_CASE("where no bf16 is multiplied on a CPU nothing is chosen, and what was kept stays") {
    const NoChoiceLeft none;
    ExperimentConfig exact = with_cpu_matmul("mkl");
    exact.training.precision = Precision::fp32;
    const json kept{{"forward 64x64", "mkl"}};
    CHECK(choose(exact).is_null());
    CHECK(choose(exact, kept) == kept);
    CHECK(choose(with_cpu_matmul("mkl"), nullptr, false).is_null());
    CHECK((matmul_library({LinearMatmul::forward, 64, 64}) == default_matmul_library()));
}

TEST_CASE("the library amx is found under its old name too, as older checkpoints have it") {
    CHECK((matmul_library_of("amx") == MatmulLibrary::amx));
    CHECK((matmul_library_of("tiles") == MatmulLibrary::amx));
    CHECK(name_of(MatmulLibrary::amx) == "amx");
}

TEST_CASE("a kept choice that names no product is the checkpoint's fault") {
    const NoChoiceLeft none;
    CHECK_THROWS_AS(choose(with_cpu_matmul("measured"), {{"sideways 64x64", "mkl"}}), CheckpointError);
    CHECK_THROWS_AS(choose(with_cpu_matmul("measured"), {{"forward 64x64", "abacus"}}), CheckpointError);
    CHECK_THROWS_AS(choose(with_cpu_matmul("measured"), {{"forward 64x64", 3}}), CheckpointError);
}

TEST_CASE("the choice is reported in a line") {
    const LinearShape forward{LinearMatmul::forward, 64, 64}, input_gradient{LinearMatmul::input_gradient, 64, 64};
    using enum MatmulLibrary;
    CHECK(matmul_text({}) == "");
    CHECK(matmul_text({{forward, onednn}, {input_gradient, onednn}}) == "onednn");
    CHECK(matmul_text({{forward, mkl}, {input_gradient, mkl}}) == "mkl");
    CHECK(matmul_text({{forward, mkl}, {input_gradient, onednn}}) == "onednn, but mkl for forward 64x64");
    CHECK(matmul_text({{forward, mkl}, {input_gradient, amx}}) ==
          concat("mkl for forward 64x64; ", name_of(amx), " for input_gradient 64x64"));
}
