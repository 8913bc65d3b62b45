#include "optimizer/sharded_optimizer.h"

#include <cmath>

#include <ATen/ops/zeros.h>

#include "core/error.h"
#include "kernels/kernels_in_use.h"

namespace bertpretrain {
namespace {

/// Squares of larger elements overflow in fp32, and the second moment would remain infinite.
constexpr double largest_usable_norm = 1e18;

double trust_ratio(double weight_square, double direction_square) {
    if (weight_square == 0 || direction_square == 0) return 1;
    return std::sqrt(weight_square) / std::sqrt(direction_square);
}

void check_buffer(const at::Tensor& buffer, std::int64_t elements, at::Device device, bool may_be_bf16, const char* name) {
    const bool type_fits = buffer.scalar_type() == at::kFloat || (may_be_bf16 && buffer.scalar_type() == at::kBFloat16);
    check(type_fits && buffer.is_contiguous() && buffer.numel() == elements && buffer.device() == device, name, " buffer has ",
          buffer.numel(), " elements of ", buffer.scalar_type(), " on ", buffer.device(), ", expected ", elements,
          " contiguous ones on ", device);
}

}  // namespace

ShardedOptimizer::ShardedOptimizer(const OptimizerConfig& config, const ParameterLayout& layout,
                                   std::optional<std::int64_t> shard, at::Device device, const OptimizerKernels* kernels)
    : config_(config),
      flat_elements_(layout.flat_elements()),
      sums_(layout, shard),
      kernels_(kernels != nullptr ? *kernels : optimizer_kernels_for(device)) {
    check_optimizer(config_);
    const auto zeros = [&] {
        return at::zeros({shard ? layout.slice_elements() : layout.flat_elements()}, at::TensorOptions(device).dtype(at::kFloat));
    };
    state_ = {zeros(), zeros(), zeros()};
    for (const PlacedParameter& parameter : layout.parameters())
        tensors_.push_back({static_cast<double>(parameter.spec.elements()), parameter.spec.decays});
    factors_.resize(tensors_.size());
    set_peak_rate(config_.learning_rate);
}

void ShardedOptimizer::set_peak_rate(double peak) {
    const double weight_decay = config_.weight_decay / (config_.name == OptimizerName::stable_adamw ? peak : 1);
    for (std::size_t p = 0; p < tensors_.size(); ++p) factors_[p].weight_decay = tensors_[p].decays ? weight_decay : 0;
}

void ShardedOptimizer::copy_weights_into(const at::Tensor& flat_compute_weights) const {
    for (const OwnedRun& run : owned_runs())
        flat_compute_weights.narrow(0, run.in_flat, run.elements).copy_(state_.master.narrow(0, run.in_slice, run.elements));
}

std::vector<double> ShardedOptimizer::gradient_sums(const at::Tensor& gradient_slice) const {
    check_buffer(gradient_slice, state_.master.numel(), state_.master.device(), false, "gradient");
    std::vector<double> own = sums_.room(1);
    kernels_.sum_squares(gradient_slice, sums_.own(), own);
    return own;
}

UpdateResult ShardedOptimizer::update(const at::Tensor& gradient_slice, std::span<const double> gathered_sums,
                                      const at::Tensor& flat_compute_weights, double learning_rate, std::int64_t step,
                                      BlockSumExchange& exchange) {
    check(step >= 1, "updates are counted from 1");
    check_buffer(gradient_slice, state_.master.numel(), state_.master.device(), false, "gradient");
    check_buffer(flat_compute_weights, flat_elements_, state_.master.device(), true, "compute weight");

    const std::vector<double> gradient_squares = sums_.totals(gathered_sums, 1);
    double square = 0;
    for (const double of_tensor : gradient_squares) square += of_tensor;
    UpdateResult result{.grad_norm = std::sqrt(square)};
    const double excess = config_.max_grad_norm > 0 ? std::max(1.0, result.grad_norm / config_.max_grad_norm) : 1;
    result.skipped = !(result.grad_norm / excess < largest_usable_norm);  // also when it is NaN
    if (result.skipped) return result;

    for (std::size_t p = 0; p < factors_.size(); ++p) {
        const double norm = std::sqrt(gradient_squares[p]) / excess;
        const bool normalized = config_.name == OptimizerName::lans && norm > 0;
        factors_[p].gradient_scale = (normalized ? 1 / (norm + config_.eps) : 1) / excess;
    }
    const double beta1 = config_.betas[0], beta2 = config_.betas[1], t = static_cast<double>(step);
    const MomentConstants constants{beta1, beta2, config_.eps, 1 - std::pow(beta1, t), 1 - std::pow(beta2, t)};
    const OptimizerPass pass{state_, gradient_slice, flat_compute_weights, sums_.own(), constants, factors_};
    switch (config_.name) {
        case OptimizerName::adamw:
            update_adamw(pass, learning_rate);
            break;
        case OptimizerName::lamb:
            update_lamb(pass, learning_rate, exchange);
            break;
        case OptimizerName::lans:
            update_lans(pass, learning_rate, exchange);
            break;
        case OptimizerName::stable_adamw:
            update_stable_adamw(pass, learning_rate, exchange);
            break;
    }
    return result;
}

void ShardedOptimizer::update_adamw(const OptimizerPass& pass, double learning_rate) {
    for (TensorFactors& factors : factors_) factors.momentum_rate = learning_rate;
    kernels_.adamw(pass);
}

void ShardedOptimizer::update_lamb(const OptimizerPass& pass, double learning_rate, BlockSumExchange& exchange) {
    std::vector<double> own = sums_.room(2);
    kernels_.lamb_moments(pass, own);
    const std::vector<double> squares = sums_.totals(exchange.all_gather(own), 2);
    for (std::size_t p = 0; p < factors_.size(); ++p) {
        const bool scaled = factors_[p].weight_decay != 0;
        factors_[p].momentum_rate = learning_rate * (scaled ? trust_ratio(squares[2 * p], squares[2 * p + 1]) : 1);
    }
    kernels_.lamb_apply(pass);
}

void ShardedOptimizer::update_lans(const OptimizerPass& pass, double learning_rate, BlockSumExchange& exchange) {
    std::vector<double> own = sums_.room(3);
    kernels_.lans_moments(pass, own);
    const std::vector<double> squares = sums_.totals(exchange.all_gather(own), 3);
    const double beta1 = pass.constants.beta1;
    for (std::size_t p = 0; p < factors_.size(); ++p) {
        const double weight = squares[3 * p], momentum = squares[3 * p + 1], gradient = squares[3 * p + 2];
        factors_[p].momentum_rate = learning_rate * beta1 * trust_ratio(weight, momentum);
        factors_[p].gradient_rate = learning_rate * (1 - beta1) * trust_ratio(weight, gradient);
    }
    kernels_.lans_apply(pass);
}

void ShardedOptimizer::update_stable_adamw(const OptimizerPass& pass, double learning_rate, BlockSumExchange& exchange) {
    std::vector<double> own = sums_.room(1);
    kernels_.stable_adamw_moments(pass, own);
    const std::vector<double> squares = sums_.totals(exchange.all_gather(own), 1);
    for (std::size_t p = 0; p < factors_.size(); ++p)
        factors_[p].momentum_rate = learning_rate / std::max(1.0, std::sqrt(squares[p] / tensors_[p].elements));
    kernels_.lamb_apply(pass);
}

}  // namespace bertpretrain
