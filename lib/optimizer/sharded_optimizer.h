#pragma once
// AdamW, LAMB, LANS and StableAdamW on one shard's slice of the flat buffers.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "kernels/interface/optimizer_kernels.h"
#include "model/parameter_layout.h"
#include "optimizer/block_sums.h"
#include "optimizer/optimizer_config.h"

namespace bertpretrain {

struct UpdateResult {
    double grad_norm = 0;  ///< over all tensors, before clipping; equal on all shards
    bool skipped = false;  ///< true if the gradient's norm is not finite or too large to square; then nothing was changed
};

/// Owns the fp32 weights and both moments of one shard. Given the same gradients, the weights are bitwise equal for any number of
/// shards, because trust ratios and root mean squares are computed per tensor, across shards.
///
/// With g = gradient * min(1, max_grad_norm / norm over all tensors), bias-corrected moments m and v of g, and
/// r = m / (sqrt(v) + eps) + weight_decay * w (no decay for tensors that are exempt):
///   adamw  w -= lr * r                                                       (Loshchilov & Hutter 2019, as torch.optim.AdamW)
///   lamb   w -= lr * (|w| / |r|) * r, ratio 1 for tensors without decay       (You et al. 2020, as apex FusedLAMB)
///   lans   g := g / (|g| + eps) per tensor; c = g / (sqrt(v) + eps) + weight_decay * w;
///          w -= lr * (beta1 * (|w| / |r|) * r + (1 - beta1) * (|w| / |c|) * c)  (Zheng et al. 2020)
///   stable_adamw  lr := lr / max(1, rms), where rms^2 = mean(g^2 / max(v, eps^2)) per tensor;
///          w := w * (1 - weight_decay * lr / peak) - lr * m / (sqrt(v) + eps)   (Wortsman et al. 2023, as torch-optimi with
///          decouple_lr); see set_peak_rate()
/// A ratio is 1 if one of its norms is 0. With lamb, weight_decay 0 also sets all ratios to 1: apex applies them only to groups
/// with decay (unless use_nvlamb is set), so runs that follow its recipes keep their curves.
class ShardedOptimizer {
public:
    /// @param shard none: the slice is the whole flat buffer (ZeRO stage 0); pass a NoExchange to `update`
    /// @param kernels null: those of optimizer_kernels_for(device)
    /// @throws ConfigError like check_optimizer()
    ShardedOptimizer(const OptimizerConfig& config, const ParameterLayout& layout, std::optional<std::int64_t> shard,
                     at::Device device = at::kCPU, const OptimizerKernels* kernels = nullptr);

    /// Weights and moments; zeros until the caller fills them.
    OptimizerState& state() { return state_; }
    const OptimizerState& state() const { return state_; }
    /// The positions of the parameters' parts in the slices.
    const std::vector<OwnedRun>& owned_runs() const { return sums_.owned_runs(); }

    /// Writes this shard's weights to its part of a flat buffer, like `update`.
    void copy_weights_into(const at::Tensor& flat_compute_weights) const;

    /// Sets the peak of the schedule, of which stable_adamw's weight decay takes the rate as a share. Until then it is the
    /// configuration's learning_rate. @param peak above 0
    void set_peak_rate(double peak);

    /// Returns the sums of squares from which update() computes the gradients' norms. Waits for the device.
    /// @param gradient_slice as in update()
    std::vector<double> gradient_sums(const at::Tensor& gradient_slice) const;

    /// Performs one step. All shards call it together. Waits for the device, and except for adamw communicates once with the
    /// other shards.
    /// @param gradient_slice fp32, summed over all ranks; not changed
    /// @param gathered_sums gradient_sums() of all shards, shard 0 first
    /// @param flat_compute_weights bf16 or fp32, layout.flat_elements(); this shard's part receives the new weights, all other
    /// elements and the padding stay unchanged
    /// @param learning_rate of this step
    /// @param step 1 for the first update; the exponent of the moments' bias correction
    UpdateResult update(const at::Tensor& gradient_slice, std::span<const double> gathered_sums,
                        const at::Tensor& flat_compute_weights, double learning_rate, std::int64_t step,
                        BlockSumExchange& exchange);

    /// The same, with a message of its own for gradient_sums().
    UpdateResult update(const at::Tensor& gradient_slice, const at::Tensor& flat_compute_weights, double learning_rate,
                        std::int64_t step, BlockSumExchange& exchange) {
        return update(gradient_slice, exchange.all_gather(gradient_sums(gradient_slice)), flat_compute_weights, learning_rate,
                      step, exchange);
    }

private:
    struct Tensor {
        double elements = 0;
        bool decays = false;
    };

    void update_adamw(const OptimizerPass& pass, double learning_rate);
    void update_lamb(const OptimizerPass& pass, double learning_rate, BlockSumExchange& exchange);
    void update_lans(const OptimizerPass& pass, double learning_rate, BlockSumExchange& exchange);
    void update_stable_adamw(const OptimizerPass& pass, double learning_rate, BlockSumExchange& exchange);

    OptimizerConfig config_;
    std::int64_t flat_elements_;
    BlockSums sums_;
    const OptimizerKernels& kernels_;
    OptimizerState state_;
    std::vector<Tensor> tensors_;         ///< by parameter
    std::vector<TensorFactors> factors_;  ///< by parameter; set_peak_rate() sets weight_decay, each step the other factors
};

}  // namespace bertpretrain
