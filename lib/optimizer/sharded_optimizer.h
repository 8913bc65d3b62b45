#pragma once
// AdamW, LAMB and LANS over one shard's slice of the flat buffers.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "kernels/optimizer_kernels.h"
#include "model/parameter_layout.h"
#include "optimizer/block_sums.h"
#include "optimizer/optimizer_config.h"

namespace bertpretrain {

struct UpdateResult {
    double grad_norm = 0;  ///< over all tensors, before clipping; the same on every shard
    bool skipped = false;  ///< the gradient was not finite (or so large that its square is not): nothing was changed
};

/// Owns the fp32 weights and both moments of one shard. With the same gradients, any number of shards leads to the same
/// weights, to the last bit: a trust ratio belongs to a tensor, wherever its parts lie.
///
/// With g the gradient times min(1, max_grad_norm / norm over all tensors), moments of g corrected for their bias, and
/// r = m / (sqrt(v) + eps) + weight_decay * w (no decay for tensors that are exempt):
///   adamw  w -= lr * r                                                       (Loshchilov & Hutter 2019, as torch.optim.AdamW)
///   lamb   w -= lr * (|w| / |r|) * r, ratio 1 for tensors without decay       (You et al. 2020, as apex FusedLAMB)
///   lans   g := g / (|g| + eps) per tensor; c = g / (sqrt(v) + eps) + weight_decay * w;
///          w -= lr * (beta1 * (|w| / |r|) * r + (1 - beta1) * (|w| / |c|) * c)  (Zheng et al. 2020)
/// A ratio is 1 where one of its norms is 0. In lamb, weight_decay 0 therefore gives every tensor the ratio 1: apex applies the
/// ratio only to groups with decay (unless use_nvlamb is set), and runs that follow its recipes keep their curves.
class ShardedOptimizer {
public:
    /// @param shard none: one slice is the whole flat buffer (ZeRO stage 0); `update` then takes a NoExchange
    /// @param kernels null: the fastest for `device`
    /// @throws ConfigError as check_optimizer
    ShardedOptimizer(const OptimizerConfig& config, const ParameterLayout& layout, std::optional<std::int64_t> shard,
                     at::Device device = at::kCPU, const OptimizerKernels* kernels = nullptr);

    /// Weights and moments; zeros until someone fills them in.
    OptimizerState& state() { return state_; }
    const OptimizerState& state() const { return state_; }
    /// Where the parts of the parameters lie in the slices.
    const std::vector<OwnedRun>& owned_runs() const { return sums_.owned_runs(); }

    /// Writes this shard's weights into its part of a flat buffer, as `update` does.
    void copy_weights_into(const at::Tensor& flat_compute_weights) const;

    /// One step. All shards call it together.
    /// @param gradient_slice fp32, summed over all ranks; not changed
    /// @param flat_compute_weights bf16 or fp32, layout.flat_elements(): this shard's part of it gets the new weights, the rest
    /// and padding are left alone
    /// @param learning_rate of this step
    /// @param step 1 for the first update: the power in the moments' bias correction
    /// Reads sums from the device, and talks to the other shards, once for adamw and twice for lamb and lans.
    UpdateResult update(const at::Tensor& gradient_slice, const at::Tensor& flat_compute_weights, double learning_rate,
                        std::int64_t step, BlockSumExchange& exchange);

private:
    enum class Method { adamw, lamb, lans };

    void update_adamw(const OptimizerPass& pass, double learning_rate);
    void update_lamb(const OptimizerPass& pass, double learning_rate, BlockSumExchange& exchange);
    void update_lans(const OptimizerPass& pass, double learning_rate, BlockSumExchange& exchange);

    OptimizerConfig config_;
    Method method_;
    std::int64_t flat_elements_;
    BlockSums sums_;
    const OptimizerKernels& kernels_;
    OptimizerState state_;
    std::vector<TensorFactors> factors_;  ///< by parameter; weight_decay is set once, the rest in each step
};

}  // namespace bertpretrain
