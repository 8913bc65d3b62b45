#include "kernels/interface/optimizer_kernels.h"

#include <ATen/ATen.h>

namespace bertpretrain {
namespace {

at::Tensor of(const at::Tensor& slice, const TensorRun& run) { return slice.narrow(0, run.begin, run.elements); }

/// Sums of squares of each block that a run touches. Repeatedly adds the upper half of a block to the lower half: every step is
/// elementwise, so the order of summation is the same for any number of blocks and on any device.
at::Tensor block_squares(const at::Tensor& values, std::int64_t begin) {
    const std::int64_t in_block = begin % optimizer_block_elements;
    const std::int64_t blocks = (in_block + values.numel() + optimizer_block_elements - 1) / optimizer_block_elements;
    at::Tensor squares = at::zeros({blocks * optimizer_block_elements}, values.options().dtype(at::kDouble));
    squares.narrow(0, in_block, values.numel()).copy_(values).square_();
    squares = squares.view({blocks, optimizer_block_elements});
    for (std::int64_t half = optimizer_block_elements / 2; half >= 1; half /= 2)
        squares = squares.narrow(1, 0, half) + squares.narrow(1, half, half);
    return squares.view({blocks});
}

/// Collects columns of sums on the device and copies them to the host once.
class SumTable {
public:
    SumTable(const OptimizerState& state, std::int64_t parts, std::int64_t columns)
        : sums_(at::empty({parts, columns}, state.master.options().dtype(at::kDouble))) {}

    /// Appends the sums of one run's blocks; `values` holds one tensor per column.
    void add(std::int64_t begin, std::initializer_list<at::Tensor> values) {
        std::int64_t column = 0, blocks = 0;
        for (const at::Tensor& value : values) {
            const at::Tensor squares = block_squares(value, begin);
            blocks = squares.numel();
            sums_.narrow(0, row_, blocks).select(1, column++).copy_(squares);
        }
        row_ += blocks;
    }

    void copy_to(std::span<double> out) const {
        const at::Tensor host = sums_.cpu();
        std::copy_n(host.const_data_ptr<double>(), host.numel(), out.begin());
    }

private:
    at::Tensor sums_;
    std::int64_t row_ = 0;
};

void update_moments(const OptimizerPass& pass, const TensorRun& run) {
    const MomentConstants& constants = pass.constants;
    const at::Tensor gradient = of(pass.gradient, run) * pass.factors[run.tensor].gradient_scale;
    of(pass.state.exp_avg, run).mul_(constants.beta1).add_(gradient * (1 - constants.beta1));
    of(pass.state.exp_avg_sq, run).mul_(constants.beta2).add_(gradient * gradient * (1 - constants.beta2));
}

at::Tensor root(const OptimizerPass& pass, const TensorRun& run) {
    return at::sqrt(of(pass.state.exp_avg_sq, run) * (1 / pass.constants.bias_correction2));
}

at::Tensor denominator(const OptimizerPass& pass, const TensorRun& run) { return root(pass, run) + pass.constants.eps; }

at::Tensor momentum_direction(const OptimizerPass& pass, const TensorRun& run) {
    const at::Tensor corrected = of(pass.state.exp_avg, run) * (1 / pass.constants.bias_correction1);
    return corrected / denominator(pass, run) + of(pass.state.master, run) * pass.factors[run.tensor].weight_decay;
}

at::Tensor gradient_direction(const OptimizerPass& pass, const TensorRun& run) {
    const TensorFactors& factors = pass.factors[run.tensor];
    const at::Tensor gradient = of(pass.gradient, run) * factors.gradient_scale;
    return gradient / denominator(pass, run) + of(pass.state.master, run) * factors.weight_decay;
}

at::Tensor normalized_gradient(const OptimizerPass& pass, const TensorRun& run) {
    const at::Tensor gradient = of(pass.gradient, run) * pass.factors[run.tensor].gradient_scale;
    return gradient / root(pass, run).clamp_min(pass.constants.eps);
}

void move_by(const OptimizerPass& pass, const TensorRun& run, const at::Tensor& step) {
    pass.compute_weights.narrow(0, run.in_flat, run.elements).copy_(of(pass.state.master, run).sub_(step));
}

class ReferenceOptimizerKernels final : public OptimizerKernels {
public:
    void sum_squares(const at::Tensor& values, const BlockedRuns& blocks, std::span<double> sums) const override {
        SumTable table({values, {}, {}}, std::ssize(blocks.parts), 1);
        for (const TensorRun& run : blocks.runs) table.add(run.begin, {of(values, run)});
        table.copy_to(sums);
    }

    void adamw(const OptimizerPass& pass) const override {
        for (const TensorRun& run : pass.blocks.runs) update_moments(pass, run);
        lamb_apply(pass);
    }

    void lamb_moments(const OptimizerPass& pass, std::span<double> sums) const override {
        SumTable table(pass.state, std::ssize(pass.blocks.parts), 2);
        for (const TensorRun& run : pass.blocks.runs) {
            update_moments(pass, run);
            table.add(run.begin, {of(pass.state.master, run), momentum_direction(pass, run)});
        }
        table.copy_to(sums);
    }

    void lamb_apply(const OptimizerPass& pass) const override {
        for (const TensorRun& run : pass.blocks.runs)
            move_by(pass, run, momentum_direction(pass, run) * pass.factors[run.tensor].momentum_rate);
    }

    void lans_moments(const OptimizerPass& pass, std::span<double> sums) const override {
        SumTable table(pass.state, std::ssize(pass.blocks.parts), 3);
        for (const TensorRun& run : pass.blocks.runs) {
            update_moments(pass, run);
            table.add(run.begin, {of(pass.state.master, run), momentum_direction(pass, run), gradient_direction(pass, run)});
        }
        table.copy_to(sums);
    }

    void lans_apply(const OptimizerPass& pass) const override {
        for (const TensorRun& run : pass.blocks.runs) {
            const TensorFactors& factors = pass.factors[run.tensor];
            move_by(
                pass, run,
                momentum_direction(pass, run) * factors.momentum_rate + gradient_direction(pass, run) * factors.gradient_rate);
        }
    }

    void stable_adamw_moments(const OptimizerPass& pass, std::span<double> sums) const override {
        SumTable table(pass.state, std::ssize(pass.blocks.parts), 1);
        for (const TensorRun& run : pass.blocks.runs) {
            update_moments(pass, run);
            table.add(run.begin, {normalized_gradient(pass, run)});
        }
        table.copy_to(sums);
    }
};

}  // namespace

const OptimizerKernels& reference_optimizer_kernels() {
    static const ReferenceOptimizerKernels kernels;
    return kernels;
}

}  // namespace bertpretrain
