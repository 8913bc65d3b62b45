#include "train/start/device_batch.h"

#include <algorithm>
#include <numeric>

#include <ATen/ATen.h>
#include <c10/core/CachingDeviceAllocator.h>

#include "batches/build_batch.h"
#include "core/error.h"
#include "operations/cuda_runtime.h"
#include "operations/device_check.h"
#include "operations/fabric.h"
#include "operations/machine_memory.h"
#include "operations/out_of_memory.h"
#include "parallel/together.h"
#include "plan/memory_plan.h"

namespace bertpretrain {
namespace {

using Stat = c10::CachingAllocator::StatType;

std::uint64_t bytes(const c10::CachingAllocator::StatArray& stats, std::int64_t c10::CachingAllocator::Stat::*which) {
    return static_cast<std::uint64_t>(stats[static_cast<std::size_t>(Stat::AGGREGATE)].*which);
}

/// Sequences of full length, with as many masked positions as real ones have.
MicroBatch full_length_batch(std::int64_t sequences, const RunPlan& plan, at::Device device) {
    const std::int64_t length = plan.settings.data.sequence_length;
    const auto masked_of_each =
        std::max<std::int64_t>(1, static_cast<std::int64_t>(plan.data.masked_lm_prob * static_cast<double>(length)));
    UnpaddedSamples samples;
    samples.lengths_B.assign(static_cast<std::size_t>(sequences), length);
    samples.numbers_B.resize(static_cast<std::size_t>(sequences));
    std::iota(samples.numbers_B.begin(), samples.numbers_B.end(), 0);
    samples.input_ids_T.resize(static_cast<std::size_t>(sequences * length));
    for (std::int64_t b = 0; b < sequences; ++b)
        for (std::int64_t m = 0; m < masked_of_each; ++m) samples.masked_rows_M.push_back(b * length + m);
    samples.masked_labels_M.resize(samples.masked_rows_M.size());
    return to_device(build_batch(samples, device), device);
}

}  // namespace

std::int64_t largest_that_fits(const std::vector<std::int64_t>& sizes, std::uint64_t most, const TrialPass& trial) {
    check(!sizes.empty(), "no size to try");
    const auto fits = [&](std::size_t i) {
        const std::optional<std::uint64_t> peak = trial(sizes[i]);
        return peak && *peak <= most;
    };
    if (sizes.size() == 1) return sizes.front();
    const std::optional<std::uint64_t> smallest = trial(sizes.front());
    if (!smallest || *smallest > most) return sizes.front();
    // As if all of it grew with the size: too much, so the size that is found rather has larger ones that fit.
    const double bytes_per_sequence = static_cast<double>(*smallest) / static_cast<double>(sizes.front());
    std::size_t found = 0;
    while (found + 1 < sizes.size() && bytes_per_sequence * static_cast<double>(sizes[found + 1]) <= static_cast<double>(most))
        ++found;
    if (found > 0 && !fits(found)) {
        while (--found > 0 && !fits(found)) {}
        return sizes[found];
    }
    while (found + 1 < sizes.size() && fits(found + 1)) ++found;
    return sizes[found];
}

bool fits_in_memory(const std::function<void()>& pass) {
    try {
        pass();
        return true;
    } catch (const std::exception& error) {
        if (!means_out_of_memory(error)) throw;
        forget_cuda_error();
        return false;
    }
}

std::optional<std::uint64_t> trial_pass(const Model& model, const FlatParameters& parameters, const RunPlan& plan,
                                        std::int64_t sequences) {
    const at::Device device = parameters.device();
    c10::DeviceAllocator* const allocator = device.is_cpu() ? nullptr : c10::getDeviceAllocator(device.type());
    std::optional<std::uint64_t> peak;
    fits_in_memory([&] {
        if (allocator) allocator->resetPeakStats(device.index());
        const double each = 1.0 / static_cast<double>(sequences);
        model.forward_backward(full_length_batch(sequences, plan, device), {each, each}, LossSums(device), {});
        synchronize(device);
        peak =
            allocator ? bytes(allocator->getDeviceStats(device.index()).allocated_bytes, &c10::CachingAllocator::Stat::peak) : 0;
    });
    if (allocator) allocator->emptyCache();
    parameters.zero_gradients();
    return peak;
}

std::uint64_t trial_exchange(GradientBuckets& buckets, const FlatParameters& parameters, const at::Tensor& master) {
    const at::Device device = parameters.device();
    c10::DeviceAllocator* const allocator = device.is_cpu() ? nullptr : c10::getDeviceAllocator(device.type());
    if (allocator) allocator->resetPeakStats(device.index());
    parameters.zero_gradients();
    for (std::size_t bucket = 0; bucket < parameters.layout().buckets().size(); ++bucket) buckets.ready(bucket);
    buckets.finish();
    buckets.start_gather(master);
    buckets.wait_all();
    synchronize(device);
    parameters.zero_gradients();
    if (!allocator) return 0;
    allocator->emptyCache();  // what NCCL's stream has used counts as active up to here
    const auto active = allocator->getDeviceStats(device.index()).active_bytes;
    return bytes(active, &c10::CachingAllocator::Stat::peak) - bytes(active, &c10::CachingAllocator::Stat::current);
}

std::uint64_t memory_for_passes(at::Device device) {
    std::uint64_t held = 0;
    if (!device.is_cpu())
        held = bytes(c10::getDeviceAllocator(device.type())->getDeviceStats(device.index()).reserved_bytes,
                     &c10::CachingAllocator::Stat::current);
    return static_cast<std::uint64_t>(usable_memory_share * static_cast<double>(available_memory(device) + held));
}

void choose_device_micro_batch(ControlGroup& ranks, RunPlan& plan, std::int64_t sequences_of_rank,
                               const std::function<std::uint64_t()>& exchange, const std::function<std::uint64_t()>& most,
                               const TrialPass& trial) {
    BatchPlan& batch = plan.batch;
    if (batch.device_micro_batch) return;
    std::vector<std::int64_t> sizes = pass_sizes(plan.settings.batch.micro_batch_size, sequences_of_rank);
    if (batch.kept_pass && *batch.kept_pass >= sizes.front())
        std::erase_if(sizes, [&](std::int64_t size) { return size > *batch.kept_pass; });
    std::int64_t own = 0;
    const std::uint64_t exchanged = exchange();
    together(ranks, [&] {
        const std::uint64_t all = most();
        own = largest_that_fits(sizes, all - std::min(all, exchanged), trial);
    });
    batch.device_micro_batch = -ranks.agree_on_largest(-own);
    plan.decide("batch.device_micro_batch", *batch.device_micro_batch, Origin::automatic,
                "measured: the largest that fits into every rank's memory");
}

}  // namespace bertpretrain
