// Compiled without fused multiply-add, so that weights and moments are bitwise equal to the CPU's.
#include "kernels/cuda/optimizer.h"

#include "kernels/cuda/block_sums.h"
#include "kernels/cuda/launch.h"

namespace bertpretrain::cuda {
namespace {

constexpr std::int64_t part_elements = 4096, pass_threads = 256;

/// The part of a run that this block processes.
struct Part {
    const DeviceRun* run;
    std::int64_t begin, in_flat, elements;
};

__device__ __forceinline__ Part part_of_block(const DeviceRuns& all) {
    std::int64_t low = 0, beyond = all.run_count;  // searches the last run that begins at or before this part
    while (beyond - low > 1) {
        const std::int64_t middle = (low + beyond) / 2;
        if (all.runs[middle].first_part <= std::int64_t{blockIdx.x}) low = middle;
        else beyond = middle;
    }
    const DeviceRun& run = all.runs[low];
    const std::int64_t block = run.begin / part_elements + blockIdx.x - run.first_part, run_end = run.begin + run.elements;
    const std::int64_t begin = block * part_elements > run.begin ? block * part_elements : run.begin;
    const std::int64_t end = (block + 1) * part_elements < run_end ? (block + 1) * part_elements : run_end;
    return {&run, begin, run.in_flat + begin - run.begin, end - begin};
}

/// One element during a pass.
struct Element {
    float gradient, master, exp_avg, exp_avg_sq;

    __device__ void update_moments(const DeviceConstants& c, const DeviceRun& run) {
        const float g = gradient * run.gradient_scale;
        exp_avg = exp_avg * c.beta1 + g * c.one_minus_beta1;
        exp_avg_sq = exp_avg_sq * c.beta2 + g * g * c.one_minus_beta2;
    }
    __device__ float direction(float numerator, const DeviceConstants& c, const DeviceRun& run) const {
        return numerator / (sqrtf(exp_avg_sq * c.unbias2) + c.eps) + master * run.weight_decay;
    }
    __device__ float momentum_direction(const DeviceConstants& c, const DeviceRun& run) const {
        return direction(exp_avg * c.unbias1, c, run);
    }
    __device__ float gradient_direction(const DeviceConstants& c, const DeviceRun& run) const {
        return direction(gradient * run.gradient_scale, c, run);
    }
    __device__ float normalized_gradient(const DeviceConstants& c, const DeviceRun& run) const {
        const float root = sqrtf(exp_avg_sq * c.unbias2);
        return gradient * run.gradient_scale / (root > c.eps ? root : c.eps);
    }
};

template <OptimizerRule rule>
constexpr bool takes_moments = rule != OptimizerRule::lamb_apply&& rule != OptimizerRule::lans_apply;
template <OptimizerRule rule>
constexpr bool moves_weights = rule == OptimizerRule::adamw || !takes_moments<rule>;
template <OptimizerRule rule>
constexpr bool is_lans = rule == OptimizerRule::lans_moments || rule == OptimizerRule::lans_apply;
template <OptimizerRule rule>
constexpr int kinds_of_sums = rule == OptimizerRule::stable_adamw_moments ? 1
                              : is_lans<rule>                             ? 3
                                                                          : 2;

__device__ __forceinline__ void add_square(double& sum, float value) {
    sum += static_cast<double>(value) * static_cast<double>(value);
}

/// Applies a rule to one element. @param squares  accumulates the squares of master, r and c, or that of u
template <OptimizerRule rule>
__device__ __forceinline__ void step(Element& element, const DeviceConstants& c, const DeviceRun& run, double (&squares)[3]) {
    if constexpr (takes_moments<rule>) element.update_moments(c, run);
    const float r = element.momentum_direction(c, run);
    const float g = is_lans<rule> ? element.gradient_direction(c, run) : 0.0F;
    if constexpr (rule == OptimizerRule::stable_adamw_moments) {
        add_square(squares[0], element.normalized_gradient(c, run));
    } else if constexpr (moves_weights<rule>) {
        element.master -= is_lans<rule> ? r * run.momentum_rate + g * run.gradient_rate : r * run.momentum_rate;
    } else {
        add_square(squares[0], element.master);
        add_square(squares[1], r);
        add_square(squares[2], g);
    }
}

/// Loads up to four adjacent elements; in one access if `whole`.
template <class T>
__device__ __forceinline__ void load_some(const T* at, std::int64_t count, bool whole, float* values) {
    if (whole) return load_quad(at, values);
    for (int i = 0; i < 4; ++i) values[i] = i < count ? to_float(at[i]) : 0.0F;
}
template <class T>
__device__ __forceinline__ void store_some(T* at, std::int64_t count, bool whole, const float* values) {
    if (whole) return store_quad(at, values);
    for (int i = 0; i < 4; ++i)
        if (i < count) store(at + i, values[i]);
}

/// Calls body(offset in the part, elements left, whether all four may be accessed at once) for each of this thread's quads.
template <class Body>
__device__ __forceinline__ void for_quads(const Part& part, bool quads, const Body& body) {
    const bool aligned = quads && part.begin % 4 == 0 && part.in_flat % 4 == 0;
    for (std::int64_t i = 4 * static_cast<std::int64_t>(threadIdx.x); i < part.elements; i += 4 * pass_threads)
        body(i, part.elements - i, aligned && part.elements - i >= 4);
}

template <class W, OptimizerRule rule>
__global__ void __launch_bounds__(pass_threads)
    pass_over_part(const OptimizerSlices<W> slices, const DeviceRuns runs, const DeviceConstants constants, bool quads) {
    wait_for_kernel_before();
    const Part part = part_of_block(runs);
    const DeviceRun run = *part.run;
    double squares[3] = {0, 0, 0};
    for_quads(part, quads, [&](std::int64_t offset, std::int64_t left, bool whole) {
        const std::int64_t at = part.begin + offset;
        float gradient[4]{}, master[4], exp_avg[4], exp_avg_sq[4];
        if constexpr (rule != OptimizerRule::lamb_apply) load_some(slices.gradient + at, left, whole, gradient);
        load_some(slices.master + at, left, whole, master);
        load_some(slices.exp_avg + at, left, whole, exp_avg);
        load_some(slices.exp_avg_sq + at, left, whole, exp_avg_sq);
        for (int i = 0; i < 4; ++i)
            if (i < left) {  // past the end the result would be 0 / (0 + eps), which is NaN if eps is 0
                Element element{gradient[i], master[i], exp_avg[i], exp_avg_sq[i]};
                step<rule>(element, constants, run, squares);
                master[i] = element.master, exp_avg[i] = element.exp_avg, exp_avg_sq[i] = element.exp_avg_sq;
            }
        if constexpr (takes_moments<rule>) {
            store_some(slices.exp_avg + at, left, whole, exp_avg);
            store_some(slices.exp_avg_sq + at, left, whole, exp_avg_sq);
        }
        if constexpr (moves_weights<rule>) {
            store_some(slices.master + at, left, whole, master);
            store_some(slices.compute_weights + part.in_flat + offset, left, whole, master);
        }
    });
    if constexpr (moves_weights<rule>) return;
    block_sums(squares, 0);
    constexpr int kinds = kinds_of_sums<rule>;
    if (threadIdx.x == 0)
        for (int k = 0; k < kinds; ++k) slices.sums[kinds * std::int64_t{blockIdx.x} + k] = squares[k];
}

__global__ void __launch_bounds__(pass_threads)
    squares_of_part(const float* values, const DeviceRuns runs, double* sums, bool quads) {
    wait_for_kernel_before();
    const Part part = part_of_block(runs);
    double squares[1] = {0};
    for_quads(part, quads, [&](std::int64_t offset, std::int64_t left, bool whole) {
        float some[4];
        load_some(values + part.begin + offset, left, whole, some);
        for (const float value : some) add_square(squares[0], value);
    });
    block_sums(squares, 0);
    if (threadIdx.x == 0) sums[blockIdx.x] = squares[0];
}

}  // namespace

template <class W>
void optimizer_pass(OptimizerRule rule, const OptimizerSlices<W>& slices, const DeviceRuns& runs,
                    const DeviceConstants& constants, bool quads, cudaStream_t stream) {
    const auto run = [&](auto kernel) {
        launch(kernel, grid_of(runs.part_count), pass_threads, stream, slices, runs, constants, quads);
    };
    switch (rule) {
        case OptimizerRule::adamw:
            return run(pass_over_part<W, OptimizerRule::adamw>);
        case OptimizerRule::lamb_moments:
            return run(pass_over_part<W, OptimizerRule::lamb_moments>);
        case OptimizerRule::lamb_apply:
            return run(pass_over_part<W, OptimizerRule::lamb_apply>);
        case OptimizerRule::lans_moments:
            return run(pass_over_part<W, OptimizerRule::lans_moments>);
        case OptimizerRule::lans_apply:
            return run(pass_over_part<W, OptimizerRule::lans_apply>);
        case OptimizerRule::stable_adamw_moments:
            return run(pass_over_part<W, OptimizerRule::stable_adamw_moments>);
    }
}
template void optimizer_pass(OptimizerRule, const OptimizerSlices<float>&, const DeviceRuns&, const DeviceConstants&, bool,
                             cudaStream_t);
template void optimizer_pass(OptimizerRule, const OptimizerSlices<Bf16>&, const DeviceRuns&, const DeviceConstants&, bool,
                             cudaStream_t);

void sum_squares(const float* values, const DeviceRuns& runs, double* sums, bool quads, cudaStream_t stream) {
    launch(squares_of_part, grid_of(runs.part_count), pass_threads, stream, values, runs, sums, quads);
}

}  // namespace bertpretrain::cuda
