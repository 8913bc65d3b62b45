// Every "auto" is decided once, from facts, and the plan tells why.
#include "plan/resolve.h"
#include "plan/training_phases.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/plans.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

ExperimentConfig small() {
    ExperimentConfig experiment;
    experiment.data.training_shards = "no/such/folder";
    experiment.batch.micro_batch_size = 4;
    experiment.batch.gradient_accumulation_steps = 3;
    return experiment;
}

TrainingProgress progress_of(std::int64_t global_batch) {
    TrainingProgress progress;
    progress.global_batch_sequences = global_batch;
    return progress;
}

/// What the plan says of a value: "24 (auto: 4 sequences x ...)".
std::string said(const RunPlan& plan, const std::string& path) {
    const PlannedValue value = value_of(plan, path);
    return concat(value.value.dump(), " (", name_of(value.origin), value.reason.empty() ? "" : ": ", value.reason, ")");
}

}  // namespace

TEST_CASE("the global batch is the settings', else the checkpoint's on any number of ranks, else the product") {
    CHECK(said(plan_of(small(), 2), "batch.global_batch_size") == "24 (auto: 4 sequences x 3 accumulation steps x 2 rank(s))");
    const RunPlan resumed = resumed_plan(small(), progress_of(24), 5);
    CHECK(said(resumed, "batch.global_batch_size") == "24 (checkpoint: a resumed run keeps its global batch)");
    CHECK(resumed.settings.batch.global_batch_size == 24);
    ExperimentConfig named = small();
    named.batch.global_batch_size = 100;
    CHECK(resumed_plan(named, progress_of(24), 5).global_batch() == 100);

    const CheckpointFacts other_micro_batch{[] {
                                                ExperimentConfig other = small();
                                                other.batch.micro_batch_size = 8;
                                                return other;
                                            }(),
                                            progress_of(24)};
    CHECK(plan_of(small(), 2, 0, &other_micro_batch).global_batch() == 24);
    CHECK(plan_of(small(), 3, 0, &other_micro_batch).global_batch() == 24);
    ExperimentConfig more_steps = small();
    more_steps.batch.gradient_accumulation_steps = 9;
    CHECK(plan_of(more_steps, 2, 0, &other_micro_batch).global_batch() == 72);  // refused by refuse_changed_settings()
}

TEST_CASE("a batch grows to the global batch, which a warm-up must begin below") {
    ExperimentConfig growing = small();
    growing.batch.warmup_steps = 4;
    growing.batch.warmup_from = growing.batch.warmup_increment = 6;
    const RunPlan plan = plan_of(growing, 2);  // 24 sequences
    CHECK(plan.global_batch() == 24);
    CHECK(plan.settings.batch.sizes().of(1) == 6);
    CHECK(plan.settings.batch.sizes().of(5) == 24);
    CHECK(resumed_plan(growing, progress_of(24), 5).settings.batch.sizes().samples_before(5) == 6 + 6 + 12 + 18);
    growing.batch.warmup_from = 24;
    CHECK_THROWS_WITH(plan_of(growing, 2),
                      Catch::Contains("batch.warmup_from = 24: must be less than batch.global_batch_size = 24"));
    growing.batch.warmup_from = growing.batch.warmup_increment = 1;
    growing.batch.global_batch_size = 500'000;
    CHECK_THROWS_WITH(plan_of(growing, 2),
                      Catch::Contains("more than 100,000 sizes") && Catch::Contains("do: set it to at least 5"));
}

TEST_CASE("a step that has fewer sequences than there are ranks is refused") {
    ExperimentConfig two = small();
    two.batch.global_batch_size = 2;
    CHECK(plan_of(two, 2).global_batch() == 2);
    CHECK_THROWS_WITH(plan_of(two, 3), Catch::Contains("a step of 2 sequences cannot be shared by 3 ranks") &&
                                           Catch::Contains("do: start at most 2 ranks, or raise batch.global_batch_size"));
}

TEST_CASE("a resume at a much higher learning rate than that of the checkpoint's schedule is announced, with the setting") {
    ExperimentConfig saved = small();
    saved.schedule.total_steps = 100;
    TrainingProgress progress = progress_of(24);
    progress.step = 100;
    const auto warnings = [&](const ExperimentConfig& now) {
        const CheckpointFacts checkpoint{saved, progress};
        std::string all;
        for (const std::string& warning : plan_of(now, 2, 0, &checkpoint).warnings) all += warning + "\n";
        return all;
    };
    CHECK(warnings(saved) == "");  // it is complete
    ExperimentConfig longer = saved;
    longer.schedule.total_steps = 200;
    CHECK_THAT(warnings(longer), Catch::Contains("the learning rate jumps from 0 at step 100 to ") &&
                                     Catch::Contains("because schedule.total_steps was 100 and is 200"));
    progress.step = 1;
    CHECK(warnings(saved) == "");  // the warm-up's own rise
    ExperimentConfig higher = saved;
    higher.optimizer.learning_rate *= 10;
    CHECK_THAT(warnings(higher), Catch::Contains("because optimizer.learning_rate was "));
}

TEST_CASE("the pass is measured on a GPU only, and only where micro-batches may be merged") {
    CHECK(said(plan_of(small(), 1, 0), "batch.device_micro_batch") == "4 (auto: batch.micro_batch_size: on a CPU)");
    const RunPlan on_gpu = plan_of(small(), 1, 1);
    CHECK(on_gpu.batch.measures_pass);
    CHECK_FALSE(on_gpu.batch.device_micro_batch.has_value());
    CHECK(on_gpu.pass_size() == 4);
    ExperimentConfig separate = small();
    separate.training.loss_mean = LossMean::micro_batch;
    CHECK(plan_of(separate, 1, 1).batch.device_micro_batch == 4);
    CHECK((plan_of(separate).settings.training.loss_mean == LossMean::micro_batch));
    ExperimentConfig named = small();
    named.batch.device_micro_batch = 12;
    CHECK(plan_of(named, 1, 1).batch.device_micro_batch == 12);
    TrainingProgress progress = progress_of(12);
    progress.device_micro_batch = 8;
    CHECK(resumed_plan(small(), progress, 1, 1).batch.kept_pass == 8);
}

TEST_CASE("auto means a GPU where there is one, and cuda without one is refused") {
    CHECK(said(plan_of(small(), 1, 0), "training.device") == "\"cpu\" (auto: no usable GPU was found)");
    CHECK(said(plan_of(small(), 1, 2), "training.device") == "\"cuda\" (auto: this host has 2 usable GPU(s))");
    ExperimentConfig named = small();
    named.training.device = "cpu";
    CHECK_FALSE(plan_of(named, 1, 2).compute.on_gpu);
    named.training.device = "cuda";
    CHECK(plan_of(named, 1, 2).compute.on_gpu);
    CHECK_THROWS_WITH(plan_of(named), Catch::Contains("no usable GPU was found"));
    MachineFacts hidden;
    hidden.has_unusable_gpu = true;
    CHECK(resolve(small(), Launch{}, hidden, {}, nullptr).warnings.size() == 1);
}

TEST_CASE("stable_adamw with clipping over all tensors is allowed, with a warning") {
    ExperimentConfig experiment = small();
    CHECK(plan_of(experiment).warnings.empty());
    experiment.optimizer.name = OptimizerName::stable_adamw;
    REQUIRE(plan_of(experiment).warnings.size() == 1);
    CHECK_THAT(plan_of(experiment).warnings.front(), Catch::Contains("set optimizer.max_grad_norm to 0"));
    experiment.optimizer.max_grad_norm = 0;
    CHECK(plan_of(experiment).warnings.empty());
}

TEST_CASE("loader threads are half of the cores, shared by the host's ranks, from 1 to 8") {
    Launch launch;
    MachineFacts machine;
    const auto threads = [&](std::size_t cores, std::int64_t ranks_of_host) {
        launch.world_size = launch.local_world_size = ranks_of_host;
        machine.cores = cores;
        return resolve(small(), launch, machine, {}, nullptr).data.loader_threads;
    };
    CHECK(threads(2, 1) == 1);
    CHECK(threads(12, 1) == 6);
    CHECK(threads(96, 1) == 8);
    CHECK(threads(96, 16) == 3);
    CHECK(threads(1, 4) == 1);
    ExperimentConfig named = small();
    named.data.loader_threads = 20;
    CHECK(plan_of(named).data.loader_threads == 20);
}

TEST_CASE("bf16 gradients are kept where several ranks share the optimizer") {
    ExperimentConfig experiment = small();
    experiment.parallel.gradient_dtype = Precision::bf16;
    CHECK((plan_of(experiment, 8).parallel.gradients == FlatParameters::Gradients::bf16));
    CHECK((plan_of(experiment, 1).parallel.gradients == FlatParameters::Gradients::fp32));
    CHECK(said(plan_of(experiment, 1), "parallel.gradient_dtype") == "\"fp32\" (auto: one rank keeps fp32 gradients)");
}

TEST_CASE("gradients are sent in fp32 or bf16 as asked, and by auto in bf16 on several hosts only") {
    const auto on = [](ReduceType type, std::int64_t ranks_of_host, std::int64_t nodes = 0, bool in_stages = false) {
        ExperimentConfig experiment = small();
        experiment.parallel.reduce_dtype = type;
        Launch launch;
        launch.world_size = 4;
        launch.local_world_size = ranks_of_host;
        launch.nodes = nodes;
        launch.in_stages = in_stages;
        return resolve(experiment, launch, MachineFacts{}, {}, nullptr);
    };
    CHECK(on(ReduceType::fp32, 2).parallel.reduce_dtype == at::kFloat);
    CHECK(on(ReduceType::bf16, 4).parallel.reduce_dtype == at::kBFloat16);
    CHECK(on(ReduceType::automatic, 4).parallel.reduce_dtype == at::kFloat);
    CHECK(said(on(ReduceType::automatic, 4), "parallel.reduce_dtype") ==
          "\"fp32\" (auto: one host, whose ranks exchange gradients quickly)");
    CHECK(on(ReduceType::automatic, 2).parallel.reduce_dtype == at::kBFloat16);
    CHECK(on(ReduceType::automatic, 2, /*nodes=*/1).parallel.reduce_dtype == at::kFloat);  // known when the ranks are connected
    CHECK(said(on(ReduceType::automatic, 2, /*nodes=*/2), "parallel.reduce_dtype") ==
          "\"fp32\" (auto: hosts with different numbers of ranks, which would send each gradient once per rank)");
    CHECK(on(ReduceType::automatic, 2, /*nodes=*/2, /*in_stages=*/true).parallel.reduce_dtype == at::kBFloat16);
    CHECK(on(ReduceType::automatic, 1, /*nodes=*/4).parallel.reduce_dtype == at::kBFloat16);
    CHECK(said(on(ReduceType::automatic, 2), "parallel.reduce_dtype") ==
          "\"bf16\" (auto: several hosts: halves what each sends to the others)");
}

TEST_CASE("NCCL's variables are part of the plan of several ranks with GPUs, with who set them") {
    Launch launch;
    launch.world_size = 2;
    MachineFacts machine;
    machine.gpus = 2;
    machine.nccl = {{"NCCL_NVLS_ENABLE", "0", "it can hang"}, {"TORCH_NCCL_DUMP_ON_TIMEOUT", "0", ""}};
    const RunPlan plan = resolve(small(), launch, machine, {}, nullptr);
    CHECK(said(plan, "environment.NCCL_NVLS_ENABLE") == "\"0\" (auto: it can hang)");
    CHECK(said(plan, "environment.TORCH_NCCL_DUMP_ON_TIMEOUT") == "\"0\" (environment)");
    CHECK(to_json(plan)["environment"]["NCCL_NVLS_ENABLE"]["reason"] == "it can hang");
    machine.gpus = 0;
    CHECK_THROWS_AS(said(resolve(small(), launch, machine, {}, nullptr), "environment.NCCL_NVLS_ENABLE"), std::out_of_range);
}

TEST_CASE("the mirror is the address of the settings, or there is none") {
    CHECK_FALSE(plan_of(small()).checkpoint.mirror.has_value());
    ExperimentConfig experiment = small();
    experiment.checkpoint.mirror = "s3://bucket/runs/a/";
    experiment.checkpoint.mirror_seconds = 5;
    const RunPlan plan = plan_of(experiment, 2);
    REQUIRE(plan.checkpoint.mirror.has_value());
    CHECK(plan.checkpoint.mirror->text() == "s3://bucket/runs/a");
    CHECK(plan.settings.checkpoint.mirror_seconds == 5);
    CHECK(value_of(plan, "checkpoint.mirror").value == "s3://bucket/runs/a/");
    experiment.checkpoint.mirror = "https://user:hunter2@host/a";
    CHECK_THROWS_WITH(plan_of(experiment), Catch::Contains("checkpoint.mirror") && !Catch::Contains("hunter2"));
}

TEST_CASE("dropout draws from the seed, unless it has its own") {
    ExperimentConfig experiment = small();
    experiment.training.seed = 9;
    CHECK(plan_of(experiment).compute.dropout_seed == 9);
    experiment.training.dropout_seed = 0;
    CHECK(plan_of(experiment).compute.dropout_seed == 0);
}

TEST_CASE("the matmul library is named, kept by a resume, the default without AMX, or measured") {
    MachineFacts machine;
    machine.has_bf16_matmul = true;
    const auto plan = [&](const std::string& asked, const nlohmann::json& kept) {
        ExperimentConfig experiment = small();
        experiment.training.cpu_matmul = asked;
        TrainingProgress progress = progress_of(12);
        progress.cpu_products = kept;
        const CheckpointFacts checkpoint{experiment, progress};
        return resolve(experiment, Launch{}, machine, {}, &checkpoint);
    };
    const auto library_of = [](const RunPlan& resolved) { return resolved.compute.matmul.value().begin()->second; };
    CHECK((library_of(plan("mkl", nullptr)) == MatmulLibrary::mkl));
    CHECK((library_of(plan("measured", nullptr)) == MatmulLibrary::onednn));
    machine.default_matmul = MatmulLibrary::vector;
    CHECK((library_of(plan("measured", nullptr)) == MatmulLibrary::vector));
    CHECK((library_of(plan("onednn", nullptr)) == MatmulLibrary::onednn));
    CHECK((library_of(plan("measured", {{"forward 64x64", "onednn"}})) == MatmulLibrary::onednn));
    CHECK((library_of(plan("measured", {{"forward 64x64", "mkl"}})) == MatmulLibrary::mkl));
    machine.may_others_be_faster = true;
    CHECK(plan("measured", nullptr).compute.chooses_matmul);
    CHECK_FALSE(plan("measured", nullptr).compute.matmul.has_value());
    machine.has_bf16_matmul = false;
    CHECK_FALSE(plan("mkl", nullptr).compute.chooses_matmul);
}

TEST_CASE("a file's and --set's values are known from defaults, also where they are equal to them") {
    const TemporaryFolder folder;
    write_text(folder / "e.json", R"({"model": {}, "data": {"training_shards": "x", "sequence_length": 128},
                                      "optimizer": {}, "schedule": {"total_steps": 5}})");
    const RunPlan plan = plan_of(request_experiment(folder / "e.json", {"training.seed=42"}));
    CHECK(said(plan, "data.sequence_length") == "128 (file)");
    CHECK(said(plan, "training.seed") == "42 (--set)");
    CHECK(said(plan, "optimizer.eps") == "1e-06 (default)");
    CHECK(to_json(plan)["schedule"]["total_steps"]["origin"] == "file");
    CHECK(resolved_table(plan).find("a resumed run") == std::string::npos);
}

TEST_CASE("a resumed run keeps its optimizer where the file names none") {
    const TemporaryFolder folder;
    write_text(folder / "e.json", R"({"data": {"training_shards": "x"}, "schedule": {"total_steps": 5}})");
    const RequestedExperiment unnamed = request_experiment(folder / "e.json", {});
    CheckpointFacts checkpoint{unnamed.settings, progress_of(24)};
    checkpoint.settings.optimizer.name = OptimizerName::lamb;
    const RunPlan resumed = plan_of(unnamed, 1, 0, &checkpoint);
    CHECK(said(resumed, "optimizer.name") == "\"lamb\" (checkpoint: a resumed run keeps its optimizer)");
    CHECK((resumed.settings.optimizer.name == OptimizerName::lamb));
    CHECK(to_json(resumed)["optimizer"]["name"]["value"] == "lamb");
    CHECK((plan_of(unnamed).settings.optimizer.name == OptimizerName::adamw));
    const RequestedExperiment named = request_experiment(folder / "e.json", {"optimizer.name=adamw"});
    CHECK((plan_of(named, 1, 0, &checkpoint).settings.optimizer.name == OptimizerName::adamw));
}

TEST_CASE("every setting of every experiment has a value and an origin, also after a resume on other ranks") {
    for (const auto& entry : std::filesystem::directory_iterator(PROJECT_FOLDER "/configs")) {
        if (entry.path().extension() != ".json" || entry.path().stem() == "pipeline") continue;
        INFO(entry.path().string());
        const RequestedExperiment experiment = request_phases(entry.path(), {}, "run").back().experiment;
        for (const RunPlan& plan : {plan_of(experiment, 8, 1), resumed_plan(experiment, progress_of(64), 3, 1)})
            for (const Setting& setting : list_settings(experiment.settings)) {
                if (setting.is_section) continue;
                const std::vector<PlannedValue> values = plan.values();
                const auto is_it = [&](const PlannedValue& value) { return value.path == setting.path; };
                CHECK(std::ranges::count_if(values, is_it) == 1);
            }
    }
}

TEST_CASE("a vocabulary larger than the model, and dynamic masking without one, are refused") {
    DataFacts data;
    data.is_there = true;
    ExperimentConfig experiment = small();
    experiment.model.bert.vocab_size = 100;
    experiment.data.masking = Masking::dynamic;
    CHECK_THROWS_WITH(resolve(experiment, Launch{}, MachineFacts{}, data, nullptr), Catch::Contains("needs the vocabulary"));
    data.vocabulary = std::make_shared<const Vocabulary>(
        std::vector<std::string>{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"}, "here");
    CHECK_NOTHROW(resolve(experiment, Launch{}, MachineFacts{}, data, nullptr));
    experiment.model.bert.vocab_size = 6;
    CHECK_THROWS_WITH(resolve(experiment, Launch{}, MachineFacts{}, data, nullptr), Catch::Contains("has 7 tokens"));
}

TEST_CASE("a probe without a vocabulary is refused") {
    DataFacts data;
    data.is_there = true;
    ExperimentConfig experiment = small();
    experiment.model.bert.vocab_size = 100;
    experiment.evaluation.probe = "task.tsv";
    CHECK_THROWS_WITH(resolve(experiment, Launch{}, MachineFacts{}, data, nullptr),
                      Catch::Contains("evaluation.probe needs the vocabulary"));
}

TEST_CASE("an automatic vocabulary size is the checkpoint's, else that of the vocabulary, rounded up to a multiple of 8") {
    const ExperimentConfig experiment = small();
    CHECK(said(plan_of(experiment), "model.vocab_size") ==
          "30528 (auto: there are no shards yet: the size of BERT's own vocabulary, rounded up to a multiple of 8)");
    DataFacts data;
    data.is_there = true;
    const auto with = [&](const ExperimentConfig& settings, const CheckpointFacts* checkpoint = nullptr) {
        return resolve(settings, Launch{}, MachineFacts{}, data, checkpoint);
    };
    CHECK_THROWS_WITH(with(experiment),
                      Catch::Contains("has neither manifest.json nor a vocabulary\n  do: set model.vocab_size"));
    data.manifest.emplace().vocabulary.size = 17;
    const RunPlan plan = with(experiment);
    CHECK(said(plan, "model.vocab_size") ==
          "24 (auto: the manifest of the shards says 17 tokens, rounded up to a multiple of 8)");
    CHECK(plan.settings.model.bert.vocab_size == 24);
    CHECK(plan.settings.model.bert.vocab_size == 24);
    CheckpointFacts checkpoint{experiment, progress_of(12)};
    checkpoint.settings.model.bert.vocab_size = 30;
    CHECK(said(with(experiment, &checkpoint), "model.vocab_size") == "30 (checkpoint: a resumed run keeps its number of rows)");
    ExperimentConfig named = experiment;
    named.model.bert.vocab_size = 40;
    CHECK(with(named, &checkpoint).settings.model.bert.vocab_size == 40);
}

namespace {

ExperimentConfig mixed(std::vector<WeightedPath> sources) {
    ExperimentConfig experiment = small();
    experiment.data.training_shards.paths = std::move(sources);
    return experiment;
}

}  // namespace

TEST_CASE("several sources are named, mixed by their weights, and all evaluated") {
    const RunPlan plan = plan_of(mixed({{"data/books/", 3}, {"data/news", 1}}));
    CHECK(plan.data.source_names == std::vector<std::string>{"books", "news"});
    CHECK((plan.data.mixture == std::vector<MixturePart>{{0, {750'000'000, 250'000'000}}}));
    CHECK(plan.data.held_out_shards == plan.data.training_shards);
    CHECK(said(plan, "data.held_out_shards") == R"(["data/books/","data/news"] (auto: the folders of training shards))");
    CHECK(said(plan, "data.mixture") == R"([{"first_sample":0,"shares":[750000000,250000000]}] )"
                                        "(auto: the weights as billionths of their sum)");
    CHECK(plan_of(mixed({{"a/x", 1}, {"b/x", 1}, {"c", 1}})).data.source_names == std::vector<std::string>{"a/x", "b/x", "c"});

    const RunPlan single = plan_of(small());
    CHECK(single.data.mixture.size() == 1);
    CHECK(single.data.shares.size() == 1);
    CHECK_THROWS_AS(value_of(single, "data.mixture"), std::out_of_range);
    CHECK(said(single, "data.held_out_shards") == R"("no/such/folder" (auto: the folder of training shards))");
}

TEST_CASE("a resumed run keeps its mixture, and other weights begin after the checkpoint only if they are accepted") {
    TrainingProgress progress = progress_of(12);
    progress.samples = 1200;
    progress.mixture = {{0, {500'000'000, 500'000'000}}, {600, {750'000'000, 250'000'000}}};
    ExperimentConfig same = mixed({{"a", 3}, {"b", 1}}), other = mixed({{"a", 1}, {"b", 4}});
    CHECK((resumed_plan(same, progress).data.mixture == progress.mixture));
    CHECK(value_of(resumed_plan(same, progress), "data.mixture").origin == Origin::checkpoint);
    const RunPlan refused = resumed_plan(other, progress);
    CHECK((refused.data.mixture == progress.mixture));
    CHECK(refused.data.shares == std::vector<std::int64_t>{200'000'000, 800'000'000});

    same.data.changed_weights = other.data.changed_weights = ChangedWeights::accept;
    CHECK((resumed_plan(same, progress).data.mixture == progress.mixture));
    std::vector<MixturePart> changed = progress.mixture;
    changed.push_back({1200, {200'000'000, 800'000'000}});
    CHECK((resumed_plan(other, progress).data.mixture == changed));
    progress.samples = 600;  // a change that no sample has used yet is replaced
    CHECK(
        (resumed_plan(other, progress).data.mixture == std::vector<MixturePart>{changed[0], {600, {200'000'000, 800'000'000}}}));
}
