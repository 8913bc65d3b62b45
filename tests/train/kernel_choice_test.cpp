// A run does not compute with kernels that are wrong: they are named, others take their place, and the losses are right.
#include "train/start/kernel_choice.h"

#include "core/error.h"
#include "core/output/log.h"
#include "kernels/kernel_inputs.h"
#include "kernels/kernels_in_use.h"
#include "parallel/world.h"
#include "support/plans.h"
#include "support/run_ranks.h"
#include "telemetry/metrics_file.h"
#include "train/make_trainer.h"
#include "train/tiny_experiment.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using nlohmann::json;

namespace {

at::Tensor wrong_activation(const at::Tensor& x_TF, const at::Tensor& bias_F, Activation activation) {
    return reference::bias_activation(x_TF, bias_F, activation) * 1.01;
}
AttentionResult throwing_attention(const at::Tensor&, const at::Tensor&, const Attention&) {
    throw std::runtime_error("no kernel image is available for execution on the device");
}
AttentionResult asked_attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    return reference::attention(qkv_T3H, bias_3H, shape);
}
/// Wrong on some ranks only: ranks are threads here.
thread_local bool is_broken_here = false;
at::Tensor sometimes_wrong_activation(const at::Tensor& x_TF, const at::Tensor& bias_F, Activation activation) {
    return reference::bias_activation(x_TF, bias_F, activation) * (is_broken_here ? 1.01 : 1.0);
}

/// The CPU's kernels as if they were a GPU's, until the test ends.
struct OfferedKernels {
    KernelSet set{"ours", cpu_operations, &cpu_optimizer_kernels(), {}};
    void offer() const { offer_kernels(at::kCPU, {set}); }
    ~OfferedKernels() { use_usual_kernels(at::kCPU); }
};

ExperimentConfig with_gpu_kernels(const std::string& gpu_kernels) {
    ExperimentConfig experiment = tiny_experiment();
    experiment.batch.micro_batch_size = 8;
    experiment.schedule.total_steps = 6;
    experiment.training.gpu_kernels = choice_named<KernelPolicy>(gpu_kernels);
    return experiment;
}

ChosenKernels choose(const std::string& gpu_kernels, const json& kept = nullptr) {
    SingleProcess alone;
    TrainingProgress progress;
    progress.global_batch_sequences = 8;
    progress.gpu_kernels = kept;
    return choose_kernels(alone, resumed_plan(with_gpu_kernels(gpu_kernels), progress), at::kCPU);
}

/// Losses of a run over these shards in this folder, by the kernels that are available.
std::vector<double> losses(const SampleShards& shards, const std::filesystem::path& run) {
    ExperimentConfig experiment = with_gpu_kernels("auto");
    experiment.data.training_shards = shards.folder.path().string();
    experiment.schedule.total_steps = 6;
    experiment.checkpoint.save_every_steps = 3;
    PhaseClock clock;
    StopRequest requests;
    Trainer trainer(
        make_trainer_parts(experiment, run, {}, Launch{}, clock, connect_ranks(experiment, Launch{}, at::kCPU), at::kCPU),
        requests);
    REQUIRE(trainer.run() == 0);
    std::vector<double> all;
    for (const StepRecord& record : read_metrics(RunPaths(run).metrics()).steps) all.push_back(record.loss);
    REQUIRE(all.size() == 6);
    return all;
}

bool says(const std::string& text, const std::vector<std::string>& words) {
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) { return text.find(word) != text.npos; });
}

}  // namespace

TEST_CASE("a run whose kernels are wrong and throw names them, falls back, and learns as one on right kernels; a resume too",
          "[system]") {
    const SampleShards shards({64});
    const TemporaryFolder folder;
    const std::vector<double> right = losses(shards, folder / "right");
    OfferedKernels ours;
    ours.set.functions.bias_activation = wrong_activation;
    ours.set.functions.attention = throwing_attention;
    ours.offer();
    for (const char* start : {"first", "resumed"}) {
        CAPTURE(start);
        const std::vector<double> found = losses(shards, folder / "run");
        for (std::size_t i = 0; i < right.size(); ++i) CHECK(found[i] == Approx(right[i]).epsilon(1e-5));
        std::filesystem::remove_all(folder / "run/checkpoints/step_00000006");
    }
    const std::string log = read_text(folder / "run/log.txt");
    INFO(log);
    CHECK(says(log, {"bias + GELU by \"ours\" on cpu: wrong: the output differs by 1.0e-02", "rounding explains at most 3.0e-06",
                     "attention by \"ours\" on cpu: failed: no kernel image is available", "This run uses \"reference\" instead",
                     "GPU kernels       7 proven, 2 fell back", "going on from step 3"}));
    const json state = json::parse(read_text(folder / "run/checkpoints/step_00000003/training_state.json"));
    CHECK(state.at("gpu_kernels").at("attention") == "reference");
    CHECK(says(read_text(folder / "run/events.jsonl"), {"\"gpu_kernels\"", "\"microseconds\""}));
}

TEST_CASE("without kernels to choose nothing is chosen, and what was kept stays") {
    const ChosenKernels chosen = choose("auto", {{"attention", "cuda"}});
    CHECK(chosen.kept == json{{"attention", "cuda"}});
    CHECK(chosen.text.empty());
    CHECK(choose("reference").kept.is_null());
}

TEST_CASE("training.gpu_kernels forces plain ATen or the program's own kernels, and refuses own ones that are wrong") {
    OfferedKernels ours;
    ours.offer();
    CHECK(says(choose("reference").text, {"plain ATen"}));
    CHECK((functions_for(at::kCPU).attention == &reference::attention));
    const ChosenKernels fused = choose("fused", {{"attention", "reference"}});
    CHECK(fused.kept.at("attention") == "ours");
    CHECK((functions_for(at::kCPU).attention == &cpu::attention));
    ours.set.functions.bias_activation = wrong_activation;
    ours.offer();
    CHECK_THROWS_WITH(choose("fused"),
                      Catch::Contains("training.gpu_kernels = \"fused\"") && Catch::Contains("bias + GELU on cpu"));
    CHECK_THROWS_AS(choose("fused"), NumbersError);
}

TEST_CASE("kernels that must be asked for are used where training.gpu_kernels or the checkpoint names them, and nowhere else") {
    OfferedKernels ours;
    KernelSet asked = ours.set;
    asked.name = kernels_of_warpgroups;
    asked.only_if_asked = true;
    asked.functions.attention = asked_attention, asked.functions.attention_backward = reference::attention_backward;
    offer_kernels(at::kCPU, {ours.set, asked});
    const auto attention = [](const std::string& policy, const json& kept) {
        return choose(policy, kept).kept.at("attention").get<std::string>();
    };
    CHECK(attention("auto", nullptr) == "ours");
    CHECK(attention("fused", {{"attention", kernels_of_warpgroups}}) == "ours");
    CHECK(attention("warpgroup", nullptr) == kernels_of_warpgroups);
    CHECK((functions_for(at::kCPU).attention == &asked_attention));
    CHECK(attention("warpgroup", {{"attention", "ours"}, {"bias + GELU", "ours"}}) == kernels_of_warpgroups);
    CHECK(attention("auto", {{"attention", kernels_of_warpgroups}}) == kernels_of_warpgroups);

    asked.functions.attention = throwing_attention;
    offer_kernels(at::kCPU, {ours.set, asked});
    CHECK(attention("warpgroup", nullptr) == "ours");
}

TEST_CASE("a resume keeps the kernels of the checkpoint, and a choice that is none is the checkpoint's fault") {
    OfferedKernels ours;
    ours.offer();
    const json kept = choose("auto", {{"attention", "reference"}, {"bias + GELU", "ours"}}).kept;
    CHECK(kept.at("attention") == "reference");
    CHECK(kept.at("bias + GELU") == "ours");
    CHECK((functions_for(at::kCPU).attention == &reference::attention));
    CHECK_THROWS_AS(choose("auto", {{"attention", 3}}), CheckpointError);
}

TEST_CASE("kernels that are wrong on one rank are used on none") {
    OfferedKernels ours;
    ours.set.functions.bias_activation = sometimes_wrong_activation;
    ours.offer();
    TrainingProgress progress;
    progress.global_batch_sequences = 8;
    progress.gpu_kernels = {{"bias + GELU", "ours"}, {"attention", "ours"}};
    const RunPlan plan = resumed_plan(with_gpu_kernels("auto"), progress);
    run_ranks(3, [&](World& world) {
        is_broken_here = world.rank() == 1;
        const ChosenKernels chosen = choose_kernels(world, plan, at::kCPU);
        CHECK(chosen.kept.at("bias + GELU") == "reference");
        CHECK(chosen.kept.at("attention") == "ours");
        is_broken_here = false;
    });
}
