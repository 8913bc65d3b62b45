#pragma once
// The arithmetic of an optimizer step on a rank's flat fp32 slice: sums of squares per block, moments, updates.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// Sums are taken per block of this many elements, so that they do not depend on how a flat buffer is sliced.
inline constexpr std::int64_t optimizer_block_elements = 4096;

/// A contiguous part of one tensor in the slice.
struct TensorRun {
    std::size_t tensor = 0;    ///< index into the factors
    std::int64_t begin = 0;    ///< first element, counted in the slice
    std::int64_t in_flat = 0;  ///< the same element, counted in the flat buffer that the slice is a part of
    std::int64_t elements = 0;
};

/// Runs, and the same runs split at block boundaries of the slice. A sum has one value per part, in the order of `parts`.
struct BlockedRuns {
    std::vector<TensorRun> runs;
    std::vector<TensorRun> parts;

    explicit BlockedRuns(std::vector<TensorRun> all) : runs(std::move(all)) {
        for (const TensorRun& run : runs)
            for (std::int64_t begin = run.begin, end = run.begin + run.elements; begin < end;) {
                const std::int64_t block_end = (begin / optimizer_block_elements + 1) * optimizer_block_elements;
                const std::int64_t part_end = std::min(end, block_end);
                parts.push_back({run.tensor, begin, run.in_flat + begin - run.begin, part_end - begin});
                begin = part_end;
            }
    }
};

/// A slice of the weights and of both moments: contiguous fp32 tensors of equal length on one device.
struct OptimizerState {
    at::Tensor master;
    at::Tensor exp_avg;
    at::Tensor exp_avg_sq;
};

/// Constants of one step, the same for all tensors.
struct MomentConstants {
    double beta1 = 0, beta2 = 0, eps = 0;
    double bias_correction1 = 1, bias_correction2 = 1;  ///< 1 - beta^step
};

/// Factors of one tensor in one step.
struct TensorFactors {
    double gradient_scale = 1;  ///< multiplies the gradient before any other use
    double weight_decay = 0;
    double momentum_rate = 0;  ///< of the direction r below; includes the trust ratio
    double gradient_rate = 0;  ///< of the direction c below, which uses the gradient itself (LANS)
};

/// One step on one slice. With g = gradient_scale * gradient and the moments after this step:
///     d = sqrt(exp_avg_sq / bias_correction2) + eps
///     r = exp_avg / bias_correction1 / d + weight_decay * master
///     c = g / d + weight_decay * master
///     u = g / max(sqrt(exp_avg_sq / bias_correction2), eps)
struct OptimizerPass {
    OptimizerState state;
    at::Tensor gradient;  ///< fp32, as long as the slice; read-only
    at::Tensor
        compute_weights;  ///< bf16 or fp32, the whole flat buffer; the slice's part gets the new weights, rounded to nearest even
    const BlockedRuns& blocks;  ///< elements outside the runs are neither read nor written
    MomentConstants constants;
    std::span<const TensorFactors> factors;  ///< indexed by tensor
};

/// The kernels of one type of device. Results depend neither on the number of threads nor on slice boundaries.
class OptimizerKernels {
public:
    virtual ~OptimizerKernels() = default;

    /// sums[part] = sum of squares in float64. @param values fp32, a slice
    virtual void sum_squares(const at::Tensor& values, const BlockedRuns& blocks, std::span<double> sums) const = 0;

    /// Updates the moments and applies master -= momentum_rate * r, in one pass. AdamW uses momentum_rate = learning rate.
    virtual void adamw(const OptimizerPass& pass) const = 0;

    /// Updates the moments; sums[2 part + 0, 1] = sums of squares of master and r.
    virtual void lamb_moments(const OptimizerPass& pass, std::span<double> sums) const = 0;
    /// master -= momentum_rate * r; StableAdamW uses it too.
    virtual void lamb_apply(const OptimizerPass& pass) const = 0;

    /// Updates the moments; sums[3 part + 0, 1, 2] = sums of squares of master, r and c.
    virtual void lans_moments(const OptimizerPass& pass, std::span<double> sums) const = 0;
    /// master -= momentum_rate * r + gradient_rate * c
    virtual void lans_apply(const OptimizerPass& pass) const = 0;

    /// Updates the moments; sums[part] = sum of squares of u.
    virtual void stable_adamw_moments(const OptimizerPass& pass, std::span<double> sums) const = 0;
};

/// Plain ATen, for any device. Only the sums are copied to the host.
const OptimizerKernels& reference_optimizer_kernels();
/// OpenMP and vector instructions, for slices in CPU memory.
const OptimizerKernels& cpu_optimizer_kernels();

}  // namespace bertpretrain
