#include "train/start/device_batch.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "model/bert/parameters.h"
#include "model/small_model.h"
#include "plan/memory_plan.h"
#include "support/catch.h"
#include "support/forwarding_world.h"
#include "support/plans.h"
#include "support/run_ranks.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// A device of which `fixed` bytes are taken before a pass, and `each` by every sequence of it.
struct MadeUpDevice {
    std::uint64_t fixed = 0, each = 0, memory = 0;
    std::size_t trials = 0;

    std::optional<std::uint64_t> pass(std::int64_t sequences) {
        ++trials;
        const std::uint64_t peak = fixed + each * static_cast<std::uint64_t>(sequences);
        return peak <= memory ? std::optional(peak) : std::nullopt;
    }
};

ExperimentConfig sixteen_by_24() {
    ExperimentConfig experiment;
    experiment.batch.micro_batch_size = 16;
    experiment.batch.gradient_accumulation_steps = 24;
    return experiment;
}

/// Records which collectives of another world are called.
class RecordedWorld final : public ForwardingWorld {
public:
    using ForwardingWorld::ForwardingWorld;
    std::vector<std::string> calls;

    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& input, const at::Tensor& output) override {
        calls.push_back(std::string("reduce-scatter of ") + at::toString(input.scalar_type()));
        return ForwardingWorld::reduce_scatter(input, output);
    }
    std::unique_ptr<Pending> all_gather(const at::Tensor& input, const at::Tensor& output) override {
        calls.push_back(std::string("all-gather of ") + at::toString(input.scalar_type()));
        return ForwardingWorld::all_gather(input, output);
    }
    using ForwardingWorld::all_gather;
};

/// @param gpus 0: a CPU, where nothing is tried @param kept a resumed run's pass
std::int64_t choose(ControlGroup& ranks, const ExperimentConfig& experiment, std::uint64_t memory, std::int64_t gpus = 1,
                    std::optional<std::int64_t> kept = std::nullopt) {
    MadeUpDevice device{100, 10, memory};
    TrainingProgress progress;
    progress.global_batch_sequences = experiment.batch.micro_batch_size * experiment.batch.gradient_accumulation_steps;
    progress.device_micro_batch = kept;
    RunPlan plan = kept ? resumed_plan(experiment, progress, 1, gpus) : plan_of(experiment, 1, gpus);
    choose_device_micro_batch(
        ranks, plan, 16 * 24, [] { return std::uint64_t{0}; }, [&] { return memory; },
        [&](std::int64_t sequences) { return device.pass(sequences); });
    CHECK(value_of(plan, "batch.device_micro_batch").value == *plan.batch.device_micro_batch);
    return *plan.batch.device_micro_batch;
}

}  // namespace

TEST_CASE("passes cut a rank's micro-batches into equal groups") {
    CHECK(pass_sizes(16, 16 * 24) == std::vector<std::int64_t>{16, 32, 48, 64, 96, 128, 192, 384});
    CHECK(pass_sizes(16, 16) == std::vector<std::int64_t>{16});
    CHECK(pass_sizes(16, 5) == std::vector<std::int64_t>{16});
    CHECK(pass_sizes(16, 16 * 6 + 1) == std::vector<std::int64_t>{16, 7 * 16});
}

TEST_CASE("the largest pass that stays within the memory is found in few trials, however much is taken before it") {
    const std::vector<std::int64_t> sizes = pass_sizes(16, 16 * 24);
    for (const std::uint64_t fixed : {0u, 50u, 1000u, 30000u})
        for (std::uint64_t memory = 40; memory < 60000; memory = memory * 5 / 4) {
            MadeUpDevice device{fixed, 10, memory};
            std::int64_t expected = sizes.front();
            for (const std::int64_t size : sizes)
                if (device.pass(size)) expected = size;
            CAPTURE(fixed, memory);
            device.trials = 0;
            CHECK(largest_that_fits(sizes, memory, [&](std::int64_t size) { return device.pass(size); }) == expected);
            CHECK(device.trials <= sizes.size());
        }
    MadeUpDevice roomy{0, 10, 60000};
    largest_that_fits(sizes, roomy.memory, [&](std::int64_t size) { return roomy.pass(size); });
    CHECK(roomy.trials == 2);
}

TEST_CASE("micro-batches are merged on a GPU, as far as all ranks can, unless the settings say otherwise") {
    SingleProcess alone;
    ExperimentConfig experiment = sixteen_by_24();
    CHECK(choose(alone, experiment, 100 + 10 * 384) == 384);
    CHECK(choose(alone, experiment, 100 + 10 * 383) == 192);
    CHECK(choose(alone, experiment, 10) == 16);  // the step itself will say what is missing
    CHECK(choose(alone, experiment, 1 << 20, 0) == 16);
    std::vector<std::int64_t> chosen(2);
    run_ranks(2, [&](World& world) {
        const auto rank = static_cast<std::size_t>(world.rank());
        chosen[rank] = choose(world, experiment, rank == 0 ? 1 << 20 : 100 + 10 * 100);
    });
    CHECK(chosen == std::vector<std::int64_t>{96, 96});

    experiment.training.loss_mean = LossMean::micro_batch;
    CHECK(choose(alone, experiment, 1 << 20) == 16);
    experiment = sixteen_by_24();
    experiment.batch.device_micro_batch = 48;
    CHECK(choose(alone, experiment, 1 << 20) == 48);
    CHECK(choose(alone, experiment, 1 << 20, 0) == 48);
}

TEST_CASE("a run that goes on merges no more than it did, and less where the memory has become less") {
    SingleProcess alone;
    CHECK(choose(alone, sixteen_by_24(), 1 << 20, 1, 96) == 96);
    CHECK(choose(alone, sixteen_by_24(), 100 + 10 * 70, 1, 96) == 64);
    CHECK(choose(alone, sixteen_by_24(), 1 << 20, 1, 7) == 384);  // of another micro-batch
}

TEST_CASE("the ranks communicate once before a pass is measured, and passes leave free what that takes") {
    SingleProcess alone;
    std::vector<std::string> order;
    MadeUpDevice device{100, 10, 1 << 20};
    RunPlan plan = plan_of(sixteen_by_24(), 1, 1);
    choose_device_micro_batch(
        alone, plan, 16 * 24,
        [&] {
            order.push_back("exchange");
            return std::uint64_t{1000};
        },
        [&] {
            order.push_back("memory");
            return std::uint64_t{100 + 10 * 384};  // all sequences, but for what the exchange takes
        },
        [&](std::int64_t sequences) {
            order.push_back("pass");
            return device.pass(sequences);
        });
    CHECK(*plan.batch.device_micro_batch == 192);
    REQUIRE(order.size() > 2);
    CHECK(std::vector(order.begin(), order.begin() + 3) == std::vector<std::string>{"exchange", "memory", "pass"});
}

TEST_CASE("a trial exchange runs each kind of collective that a step runs, and leaves no gradient") {
    const at::ScalarType wire = GENERATE(at::kFloat, at::kBFloat16);
    const std::int64_t stage = GENERATE(0, 1);
    run_ranks(2, [&](World& threads) {
        RecordedWorld world(threads);
        const FlatParameters parameters(layout_of(as_model(odd_config("post_ln")), 1, 2), at::kBFloat16, at::kCPU,
                                        FlatParameters::Gradients::fp32);
        GradientBuckets buckets(parameters, world, {stage, wire});
        const ParameterLayout& layout = parameters.layout();
        const at::Tensor master = at::zeros({stage == 0 ? layout.flat_elements() : layout.slice_elements()});
        if (trial_exchange(buckets, parameters, master) != 0) throw std::runtime_error("a CPU's memory is not counted");
        const auto has = [&](const std::string& call) {
            return std::find(world.calls.begin(), world.calls.end(), call) != world.calls.end();
        };
        if (!has(std::string("reduce-scatter of ") + at::toString(wire))) throw std::runtime_error("no reduce-scatter");
        if (!has("all-gather of Float")) throw std::runtime_error("no all-gather of sums, biases or LayerNorm");
        if (stage == 1 && !has("all-gather of BFloat16")) throw std::runtime_error("no all-gather of weights");
        for (const PlacedParameter& parameter : layout.parameters())
            if (parameters.gradient(parameter.spec.name).abs().sum().item<double>() != 0) throw std::runtime_error("a gradient");
    });
}

TEST_CASE("a trial pass leaves no gradient") {
    const BertConfig model = odd_config("post_ln");
    const FlatParameters parameters(layout_of(as_model(model), 1, 1), at::kFloat, at::kCPU, FlatParameters::Gradients::fp32);
    parameters.compute_weights().fill_(0.01);
    const std::unique_ptr<Model> made = make_model(as_model(model), parameters, {7, false});
    CHECK(trial_pass(*made, parameters, RunPlan(), 3) == std::optional<std::uint64_t>(0));
    for (const PlacedParameter& parameter : parameters.layout().parameters())
        CHECK(parameters.gradient(parameter.spec.name).abs().sum().item<double>() == 0);
}

TEST_CASE("a pass that any library refuses memory does not fit, and every other error ends the search") {
    const auto throws = [](const std::string& text) { return [text] { TORCH_CHECK(false, text); }; };
    CHECK(fits_in_memory([] {}));
    CHECK_FALSE(
        fits_in_memory([] { TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory. Tried to allocate 20.00 GiB."); }));
    for (const char* refused :
         {"CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
          "CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasLtCreate(handle)`", "CUDA error: out of memory",
          "CUDA driver error: out of memory", "cuDNN error: CUDNN_STATUS_ALLOC_FAILED", "cudaErrorMemoryAllocation"}) {
        CAPTURE(refused);
        CHECK_FALSE(fits_in_memory(throws(refused)));
    }
    CHECK_FALSE(
        fits_in_memory([] { throw std::runtime_error("CUDA kernel launch failed: out of memory"); }));  // our own kernels'
    for (const char* other : {"CUDA error: an illegal memory access was encountered",
                              "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx`",
                              "The size of tensor a (3) must match the size of tensor b (4)"}) {
        CAPTURE(other);
        CHECK_THROWS_AS(fits_in_memory(throws(other)), c10::Error);
    }
    CHECK_THROWS_AS(fits_in_memory([] { throw std::bad_alloc(); }), std::bad_alloc);  // of the host
}
