// The experiments of configs/ against what the references published. Sources:
//   AWS    AWS Machine Learning blog, "Accelerate PyTorch with DeepSpeed to train large language models with Intel Habana
//   Gaudi-based
//          DL1 EC2 instances": 16 x 24 sequences per accelerator for 1.5B, rates 0.0015 on 64 and 0.003 on 128
//   NVIDIA NVIDIA DeepLearningExamples, PyTorch/LanguageModeling/BERT, scripts/configs/pretrain_config.sh and schedulers.py
//   Habana Habana Model-References, deepspeed-bert, scripts/run_bert_1.5b_8x.sh, run_bert_5b_32x_lans.sh and schedulers.py
//   DL1    aws-samples/aws-hpc-tutorials, 06-batch-mnp-train-dl1: rates of the first step in the log of a run
#include <cmath>

#include "core/concat.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/plans.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// A row of a reference: what it published, or "assumed" by the experiment's description.
struct Published {
    std::string file;
    std::int64_t accelerators;  ///< 0: the batch is fixed and shared by any number
    std::int64_t batch, steps, samples;
    double rate, warmup, constant;
    std::string optimizer;
};

constexpr std::int64_t nvidia_phase_1 = 65'536LL * 7'038, habana_1_5b = 12'288LL * 155'000;

const std::vector<Published> experiments = {
    {"bert_1.5b_8", 8, 3'072, 620'000, habana_1_5b, 0.0001875, 0.05, 0.25, "lans"},
    {"bert_1.5b_64", 64, 24'576, 77'500, habana_1_5b, 0.0015, 0.05, 0.25, "lans"},
    {"bert_1.5b_128", 128, 49'152, 38'750, habana_1_5b, 0.003, 0.05, 0.25, "lans"},
    {"bert_large_8", 8, 3'072, 150'144, nvidia_phase_1, 0.001299, 0.2843, 0, "lamb"},
    {"bert_large_16", 16, 6'144, 75'072, nvidia_phase_1, 0.0018371, 0.2843, 0, "lamb"},
    {"bert_large_32", 32, 12'288, 37'536, nvidia_phase_1, 0.0025981, 0.2843, 0, "lamb"},
    {"bert_large_64", 64, 24'576, 18'768, nvidia_phase_1, 0.0036742, 0.2843, 0, "lamb"},
    {"bert_large_phase1", 0, 65'536, 7'038, nvidia_phase_1, 0.006, 0.2843, 0, "lamb"},
    {"bert_large_phase2", 0, 32'768, 1'563, 32'768LL * 1'563, 0.004, 0.128, 0, "lamb"},
    {"bert_5b", 32, 12'288, 75'000, 12'288LL * 75'000, 0.0015, 0.05, 0.25, "lans"},
};

ExperimentConfig experiment(const std::string& name) {
    return load_experiment(std::filesystem::path(PROJECT_FOLDER) / "configs" / (name + ".json"), {});
}

/// The references' rate in step k of T. LAMB: NVIDIA's PolyWarmUpScheduler, degree 0.5. LANS: Habana's, degree 1, with a constant
/// part.
double published_rate(const Published& row, std::int64_t step) {
    const double p = static_cast<double>(step) / static_cast<double>(row.steps);
    if (p < row.warmup) return row.rate * p / row.warmup;
    if (row.optimizer == "lamb") return row.rate * std::sqrt(1 - p);
    return p < row.warmup + row.constant ? row.rate : row.rate * (1 - p) / (1 - row.warmup - row.constant);
}

}  // namespace

TEST_CASE("each experiment has the references' batch, steps, samples and optimizer") {
    for (const Published& row : experiments) {
        INFO(row.file);
        const ExperimentConfig config = experiment(row.file);
        const RunPlan plan = plan_of(config, row.accelerators == 0 ? 128 : row.accelerators);
        CHECK(plan.settings.batch.micro_batch_size == 16);
        CHECK(plan.global_batch() == row.batch);
        if (row.accelerators != 0) CHECK(row.batch == 16 * 24 * row.accelerators);
        CHECK(config.schedule.total_steps == row.steps);
        CHECK(row.batch * row.steps == row.samples);
        CHECK(name_of(config.optimizer.name) == row.optimizer);
        CHECK(config.optimizer.weight_decay == 0.01);
        CHECK(config.optimizer.eps == 1e-6);
        CHECK(config.data.sequence_length == (row.file == "bert_large_phase2" ? 512 : 128));
    }
}

TEST_CASE("each experiment's learning rate follows the references' curve") {
    for (const Published& row : experiments) {
        const ExperimentConfig config = experiment(row.file);
        for (int i = 1; i <= 200; ++i) {
            const std::int64_t step = std::max<std::int64_t>(1, row.steps * i / 200);
            INFO(row.file << " step " << step);
            CHECK(learning_rate_at(config.schedule, config.optimizer.learning_rate, step) ==
                  Approx(published_rate(row, step)).epsilon(1e-12).margin(1e-18));
        }
    }
}

TEST_CASE("the first step's rates are those of the log of the references' run") {
    const ExperimentConfig large = experiment("bert_large_phase1");
    CHECK(learning_rate_at(large.schedule, large.optimizer.learning_rate, 1) == Approx(2.9986e-6).epsilon(1e-4));
    ScheduleConfig habana = experiment("bert_1.5b_64").schedule;
    habana.total_steps = 155'000;
    CHECK(learning_rate_at(habana, 0.0015, 1) == Approx(1.935e-7).epsilon(1e-3));
}

TEST_CASE("an experiment says of each assumed number that it is assumed, and shows how its batch is made") {
    for (const Published& row : experiments) {
        INFO(row.file);
        const std::string about = experiment(row.file).about;
        if (row.accelerators != 0) CHECK(about.find(concat("16 x 24 x ", row.accelerators)) != about.npos);
        const bool is_assumed = row.file.starts_with("bert_large_") && row.accelerators != 0;
        CHECK((about.find("ssumed") != about.npos) == (is_assumed || row.file == "bert_1.5b_8"));
    }
}
