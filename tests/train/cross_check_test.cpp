// A run whose hardware computes wrongly ends at the next check, names the host, and keeps no state that may be wrong.
#include "train/audit/cross_check/cross_check.h"

#include <limits>
#include <span>
#include <thread>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "core/host_name.h"
#include "kernels/kernel_inputs.h"
#include "kernels/kernels_in_use.h"
#include "kernels/plain_matmul.h"
#include "support/thread_world.h"
#include "telemetry/metrics_file.h"
#include "train/make_trainer.h"
#include "train/tiny_experiment.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// What is wrong with this rank's hardware: ranks are threads here.
struct Fault {
    std::int64_t flip_after_norm = 0;  ///< the matmul after so many LayerNorms gets one bit flipped; 0: none
    bool norm_off_by_one_ulp = false;
    float norm_factor = 1;
    bool moment_is_nan = false;  ///< after each update
    std::int64_t norms = 0;      ///< computed so far
};
thread_local Fault fault;

at::Tensor faulty_gemm(const at::Tensor& a_MK, const at::Tensor& b_KN) {
    at::Tensor product_MN = at::mm(a_MK, b_KN);
    if (fault.flip_after_norm == 0 || fault.norms != fault.flip_after_norm) return product_MN;
    static_cast<std::uint32_t*>(product_MN.mutable_data_ptr())[0] ^= 1U << 20;
    fault.flip_after_norm = 0;  // it happens once
    return product_MN;
}

NormResult faulty_norm(const NormArguments& arguments) {
    NormResult result = cpu::dropout_residual_norm(arguments);
    ++fault.norms;
    if (fault.norm_factor != 1) result.normed_TH.mul_(fault.norm_factor);
    if (fault.norm_off_by_one_ulp) static_cast<std::uint32_t*>(result.normed_TH.mutable_data_ptr())[0] ^= 1U;
    return result;
}

/// The CPU's AdamW, after which a moment may be NaN.
class FaultyOptimizer final : public OptimizerKernels {
public:
    void sum_squares(const at::Tensor& values, const BlockedRuns& blocks, std::span<double> sums) const override {
        cpu_.sum_squares(values, blocks, sums);
    }
    void adamw(const OptimizerPass& pass) const override {
        cpu_.adamw(pass);
        if (fault.moment_is_nan) pass.state.exp_avg.mutable_data_ptr<float>()[0] = std::numeric_limits<float>::quiet_NaN();
    }
    void lamb_moments(const OptimizerPass& pass, std::span<double> sums) const override { cpu_.lamb_moments(pass, sums); }
    void lamb_apply(const OptimizerPass& pass) const override { cpu_.lamb_apply(pass); }
    void lans_moments(const OptimizerPass& pass, std::span<double> sums) const override { cpu_.lans_moments(pass, sums); }
    void lans_apply(const OptimizerPass& pass) const override { cpu_.lans_apply(pass); }
    void stable_adamw_moments(const OptimizerPass& pass, std::span<double> sums) const override {
        cpu_.stable_adamw_moments(pass, sums);
    }

private:
    const OptimizerKernels& cpu_ = cpu_optimizer_kernels();
};

/// The CPU's kernels with these faults, until the test ends.
struct FaultyKernels {
    explicit FaultyKernels(bool in_matmuls = true) {
        KernelSet set{"ours", cpu_operations, &optimizer, {}};
        if (in_matmuls) set.matmul = {faulty_gemm, library_matmul().add_weight_gradient};  // in fp32
        set.functions.dropout_residual_norm = faulty_norm;
        use_kernels(at::kCPU, set);
    }
    ~FaultyKernels() { use_usual_kernels(at::kCPU); }

    FaultyOptimizer optimizer;
};

ExperimentConfig tiny(const SampleShards& shards, std::int64_t every) {
    ExperimentConfig experiment = tiny_experiment();
    experiment.data.training_shards = shards.folder.path().string();
    experiment.batch.micro_batch_size = 2;
    experiment.batch.global_batch_size = 12;
    experiment.schedule.total_steps = 12;
    experiment.checkpoint.save_every_steps = 2;
    experiment.checkpoint.keep_last = 1;
    experiment.training.cross_check_every_steps = every;
    return experiment;
}

/// Trains with one thread per fault, and counts its LayerNorms there. @returns the error of rank 0, if the run ended with one
std::optional<HardwareError> train(const ExperimentConfig& experiment, const std::filesystem::path& run,
                                   std::vector<Fault>& faults) {
    ThreadGroup group(static_cast<std::int64_t>(faults.size()));
    std::vector<std::optional<HardwareError>> errors(faults.size());
    std::vector<std::string> others(faults.size());
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < faults.size(); ++rank)
        threads.emplace_back([&, rank] {
            fault = faults[rank];
            at::set_num_threads(1);  // in this thread only
            Launch launch;
            launch.rank = launch.local_rank = static_cast<std::int64_t>(rank);
            launch.world_size = launch.local_world_size = static_cast<std::int64_t>(faults.size());
            try {
                PhaseClock clock;
                StopRequest requests;
                Trainer trainer(make_trainer_parts(experiment, run, {}, launch, clock, group.world(launch.rank), at::kCPU),
                                requests);
                trainer.run();
            } catch (const HardwareError& error) { errors[rank] = error; } catch (const std::exception& error) {
                others[rank] = error.what();
                group.abandon();
            }
            faults[rank] = fault;
        });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t rank = 0; rank < faults.size(); ++rank) {
        CHECK(others[rank] == "");
        REQUIRE(errors[rank].has_value() == errors[0].has_value());
        if (errors[0]) CHECK(bool(errors[rank]->suspects == errors[0]->suspects));
    }
    return errors[0];
}

using Ranks = std::vector<std::int64_t>;

/// The ranks that an error names; none without an error. All are on this host.
Ranks suspected(const std::optional<HardwareError>& error) {
    Ranks ranks;
    for (const SuspectRank& suspect : error ? error->suspects : std::vector<SuspectRank>()) {
        CHECK(suspect.host == host_name());
        ranks.push_back(suspect.rank);
    }
    return ranks;
}

std::vector<double> losses(const std::filesystem::path& run) {
    std::vector<double> all;
    for (const StepRecord& record : read_metrics(RunPaths(run).metrics()).steps) all.push_back(record.loss);
    return all;
}

std::vector<std::string> entries_of(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace

TEST_CASE("sound ranks pass every check, and their losses are those of a run without checks", "[system]") {
    const SampleShards shards({64});
    const TemporaryFolder folder;
    std::vector<Fault> none(3);
    REQUIRE_FALSE(train(tiny(shards, 0), folder / "without", none));
    for (const std::size_t ranks : {std::size_t{1}, std::size_t{3}}) {
        CAPTURE(ranks);
        const auto run = folder / std::to_string(ranks);
        none = std::vector<Fault>(ranks);
        REQUIRE_FALSE(train(tiny(shards, 1), run, none));
        if (ranks == 3) CHECK(losses(run) == losses(folder / "without"));
        CHECK(losses(run).size() == 12);
    }
}

TEST_CASE("a LayerNorm that is off by one ulp in one row is found at the first check, and the rank is named by a third one",
          "[system]") {
    const FaultyKernels kernels;
    const SampleShards shards({64});
    const TemporaryFolder folder;
    std::vector<Fault> faults(4);
    faults[2].norm_off_by_one_ulp = true;
    const auto error = train(tiny(shards, 5), folder / "run", faults);
    REQUIRE(error);
    CHECK(suspected(error) == Ranks{2});
    CHECK(error->code() == ExitCode::distributed);
    CHECK_THAT(error->what(), Catch::Contains("step 5: rank 2 on " + host_name() + " computed wrongly"));
    // No check has confirmed any state yet, so none is left to resume from.
    CHECK(entries_of(folder / "run/checkpoints") == std::vector<std::string>{"unverified_after_00000000"});
    CHECK_THAT(read_text(folder / "run/events.jsonl"), Catch::Contains("\"hardware_fault\"") && Catch::Contains("\"suspects\""));
}

TEST_CASE("a bit that flips once is found by the check that covers it, and only states since the last agreed check are lost",
          "[system]") {
    const FaultyKernels kernels;
    const SampleShards shards({64});
    const TemporaryFolder folder;
    const ExperimentConfig experiment = tiny(shards, 4);
    std::vector<Fault> sound(3);
    REQUIRE_FALSE(train(experiment, folder / "sound", sound));
    // The first seven steps, with step 4's check, which computes one micro-batch more, and without.
    std::vector<Fault> checked(3), unchecked(3);
    ExperimentConfig seven_steps = tiny(shards, 4);
    seven_steps.schedule.total_steps = 7;
    REQUIRE_FALSE(train(seven_steps, folder / "checked", checked));
    seven_steps.training.cross_check_every_steps = 0;
    REQUIRE_FALSE(train(seven_steps, folder / "unchecked", unchecked));
    const std::int64_t of_pass = checked[1].norms - unchecked[1].norms;
    const std::int64_t others = checked[1].norms + 1;  // the first LayerNorm of step 8, which begins with another's micro-batch
    const std::int64_t own = others + of_pass;
    for (const std::int64_t flipped : {others, own}) {
        CAPTURE(flipped == own);
        const auto run = folder / std::to_string(flipped);
        std::vector<Fault> faults(3);
        faults[1].flip_after_norm = flipped;
        const auto error = train(experiment, run, faults);
        REQUIRE(error);
        CHECK(suspected(error) == Ranks{1});
        CHECK_THAT(error->what(), Catch::Contains("step 8: "));
        // Step 4's check confirmed the state of step 3; step 2's checkpoint is the newest up to it, though only one was to be
        // kept.
        CHECK(entries_of(run / "checkpoints") == std::vector<std::string>{"step_00000002", "unverified_after_00000003"});
        CHECK(entries_of(run / "checkpoints/unverified_after_00000003") == std::vector<std::string>{"step_00000006"});
        if (flipped == others) continue;
        std::vector<Fault> repaired(3);
        REQUIRE_FALSE(train(experiment, run, repaired));
        CHECK(losses(run) == losses(folder / "sound"));
    }
}

TEST_CASE("a save in progress that fails does not replace the hardware's failure, for which the run ends", "[system]") {
    const FaultyKernels kernels;
    const SampleShards shards({64});
    const TemporaryFolder folder;
    ExperimentConfig experiment = tiny(shards, 2);
    experiment.optimizer.name = OptimizerName::adamw;
    experiment.checkpoint.save_every_steps = 1;
    experiment.checkpoint.background = true;
    std::vector<Fault> faults(3);
    faults[0].moment_is_nan = true;  // so that step 1's save, which step 2's check finds in progress, refuses the numbers
    faults[2].norm_off_by_one_ulp = true;
    const auto error = train(experiment, folder / "run", faults);
    REQUIRE(error);
    CHECK(suspected(error) == Ranks{2});
    CHECK_THAT(read_text(folder / "run/log.txt"), Catch::Contains("the weights or moments are not finite"));
}

TEST_CASE("of two ranks that disagree, the one that differs from plain ATen is named, else both", "[system]") {
    const FaultyKernels kernels;
    const SampleShards shards({64});
    const TemporaryFolder folder;
    std::vector<Fault> large(2), tiny_one(2), once(2);
    large[1].norm_factor = 1.5F;
    tiny_one[1].norm_off_by_one_ulp = true;
    once[1].flip_after_norm = 1;
    CHECK(suspected(train(tiny(shards, 1), folder / "large", large)) == Ranks{1});
    CHECK(suspected(train(tiny(shards, 1), folder / "tiny", tiny_one)) == Ranks{0, 1});
    CHECK(suspected(train(tiny(shards, 1), folder / "once", once)) == Ranks{1});
}

TEST_CASE("a single rank finds what rounding does not explain, in fp32 and bf16", "[system]") {
    const FaultyKernels kernels(false);
    const SampleShards shards({64});
    const TemporaryFolder folder;
    for (const Precision precision : {Precision::fp32, Precision::bf16}) {
        CAPTURE(name_of(precision));
        ExperimentConfig experiment = tiny(shards, 3);
        experiment.training.precision = precision;
        std::vector<Fault> faults(1);
        if (experiment.training.precision == Precision::bf16) REQUIRE_FALSE(train(experiment, folder / "sound", faults));
        faults.front().norm_factor = 1.5F;
        const auto error = train(experiment, folder / std::string(name_of(precision)), faults);
        REQUIRE(error);
        CHECK_THAT(error->what(), Catch::Contains("step 3: rank 0 on " + host_name() + " computes wrongly"));
    }
}

TEST_CASE("ranks with a single micro-batch in a step are checked too") {
    const FaultyKernels kernels;
    const SampleShards shards({64});
    const TemporaryFolder folder;
    ExperimentConfig experiment = tiny(shards, 2);
    experiment.batch.global_batch_size = 6;
    std::vector<Fault> faults(3);
    faults[0].norm_off_by_one_ulp = true;
    const auto error = train(experiment, folder / "faulty", faults);
    REQUIRE(error);
    CHECK(suspected(error) == Ranks{0});
}
