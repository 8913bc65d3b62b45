#include <ATen/ops/empty.h>

#include "kernels/cuda/host_values.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/optimizer.h"
#include "kernels/cuda/tensors.h"
#include "kernels/interface/implementations.h"
#include "kernels/interface/optimizer_kernels.h"

namespace bertpretrain::cuda {
namespace {

/// The runs with their tensors' factors, copied to the device.
class RunsOnDevice {
public:
    RunsOnDevice(const BlockedRuns& blocks, std::span<const TensorFactors> factors, at::Device device)
        : parts_(std::ssize(blocks.parts)) {
        static_assert(optimizer_block_elements == 4096);  // part_elements in optimizer.cu
        std::vector<DeviceRun> runs;
        std::int64_t part = 0;
        for (const TensorRun& run : blocks.runs) {
            const TensorFactors of = factors.empty() ? TensorFactors{} : factors[run.tensor];
            runs.push_back({run.begin, run.in_flat, run.elements, part, static_cast<float>(of.gradient_scale),
                            static_cast<float>(of.weight_decay), static_cast<float>(of.momentum_rate),
                            static_cast<float>(of.gradient_rate)});
            if (run.elements > 0)
                part += (run.begin + run.elements - 1) / optimizer_block_elements - run.begin / optimizer_block_elements + 1;
        }
        runs_ = copied_to(device, runs);
    }
    DeviceRuns get() const {
        return {static_cast<const DeviceRun*>(runs_.data_ptr()), runs_.numel() / static_cast<std::int64_t>(sizeof(DeviceRun)),
                parts_};
    }

private:
    std::int64_t parts_;
    at::Tensor runs_;
};

DeviceConstants device_constants(const MomentConstants& of) {
    return {static_cast<float>(of.beta1),
            static_cast<float>(1 - of.beta1),
            static_cast<float>(of.beta2),
            static_cast<float>(1 - of.beta2),
            static_cast<float>(of.eps),
            static_cast<float>(1 / of.bias_correction1),
            static_cast<float>(1 / of.bias_correction2)};
}

/// Sums on the device, copied to the host at once. The host memory is pinned, because a copy to pageable memory is staged.
class SumsOnDevice {
public:
    SumsOnDevice(std::size_t count, at::Device device)
        : sums_(at::empty({static_cast<std::int64_t>(count)}, at::TensorOptions(at::kDouble).device(device))) {}
    double* get() const { return sums_.mutable_data_ptr<double>(); }
    void copy_to(std::span<double> out) const {
        const at::Tensor host = at::empty(sums_.sizes(), at::TensorOptions(at::kDouble).pinned_memory(sums_.is_cuda()));
        host.copy_(sums_);
        std::copy_n(host.const_data_ptr<double>(), host.numel(), out.begin());
    }

private:
    at::Tensor sums_;
};

void run(OptimizerRule rule, const OptimizerPass& pass, double* sums) {
    const RunsOnDevice runs(pass.blocks, pass.factors, pass.state.master.device());
    with_compute_dtype(pass.compute_weights.scalar_type(), [&](auto w) {
        using W = decltype(w);
        optimizer_pass<W>(
            rule,
            {fp32_data(pass.gradient), fp32_data(pass.state.master), fp32_data(pass.state.exp_avg),
             fp32_data(pass.state.exp_avg_sq), compute_data<W>(pass.compute_weights), sums},
            runs.get(), device_constants(pass.constants),
            in_quads(4, {pass.gradient, pass.state.master, pass.state.exp_avg, pass.state.exp_avg_sq, pass.compute_weights}),
            current_stream());
    });
}

class CudaOptimizerKernels final : public OptimizerKernels {
public:
    void sum_squares(const at::Tensor& values, const BlockedRuns& blocks, std::span<double> sums) const override {
        const RunsOnDevice runs(blocks, {}, values.device());
        const SumsOnDevice on_device(blocks.parts.size(), values.device());
        cuda::sum_squares(fp32_data(values), runs.get(), on_device.get(), in_quads(4, {values}), current_stream());
        on_device.copy_to(sums);
    }
    void adamw(const OptimizerPass& pass) const override { run(OptimizerRule::adamw, pass, nullptr); }
    void lamb_moments(const OptimizerPass& pass, std::span<double> sums) const override {
        take_moments(OptimizerRule::lamb_moments, pass, 2, sums);
    }
    void lamb_apply(const OptimizerPass& pass) const override { run(OptimizerRule::lamb_apply, pass, nullptr); }
    void lans_moments(const OptimizerPass& pass, std::span<double> sums) const override {
        take_moments(OptimizerRule::lans_moments, pass, 3, sums);
    }
    void lans_apply(const OptimizerPass& pass) const override { run(OptimizerRule::lans_apply, pass, nullptr); }
    void stable_adamw_moments(const OptimizerPass& pass, std::span<double> sums) const override {
        take_moments(OptimizerRule::stable_adamw_moments, pass, 1, sums);
    }

private:
    static void take_moments(OptimizerRule rule, const OptimizerPass& pass, std::size_t kinds, std::span<double> sums) {
        const SumsOnDevice on_device(kinds * pass.blocks.parts.size(), pass.state.master.device());
        run(rule, pass, on_device.get());
        on_device.copy_to(sums);
    }
};

}  // namespace

const OptimizerKernels& optimizer_kernels() {
    static const CudaOptimizerKernels kernels;
    return kernels;
}

}  // namespace bertpretrain::cuda
