// Each part (at most one block) goes through several short loops while it is in the cache. The kernels are bound by memory, so
// simple loops that the compiler vectorizes are as fast as one fused loop.
#include "kernels/interface/optimizer_kernels.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/cpu/by_instruction_set.h"

namespace bertpretrain {
namespace {

using cpu::by_instruction_set;

using Float8 = float __attribute__((vector_size(32)));
using Double8 = double __attribute__((vector_size(64)));

/// Uses sixteen running sums on every CPU, so that the result is the same everywhere. Memory is requested a page ahead of the
/// arithmetic; the hardware stops at the end of a page.
BERTPRETRAIN_INLINE double square_sum(const float* __restrict values, std::int64_t n) {
    Double8 even{}, odd{};
    std::int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __builtin_prefetch(values + i + 1024);
        Float8 low, high;
        std::memcpy(&low, values + i, sizeof low);
        std::memcpy(&high, values + i + 8, sizeof high);
        const Double8 wide_low = __builtin_convertvector(low, Double8);
        const Double8 wide_high = __builtin_convertvector(high, Double8);
        even += wide_low * wide_low;
        odd += wide_high * wide_high;
    }
    even += odd;
    double sum = 0;
    for (int lane = 0; lane < 8; ++lane) sum += even[lane];
    for (; i < n; ++i) sum += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    return sum;
}

/// MomentConstants and TensorFactors in fp32.
struct Scalars {
    float beta1, one_minus_beta1, beta2, one_minus_beta2, eps, unbias1, unbias2;
    float gradient_scale, weight_decay, momentum_rate, gradient_rate;

    Scalars(const MomentConstants& constants, const TensorFactors& factors)
        : beta1(static_cast<float>(constants.beta1)),
          one_minus_beta1(static_cast<float>(1 - constants.beta1)),
          beta2(static_cast<float>(constants.beta2)),
          one_minus_beta2(static_cast<float>(1 - constants.beta2)),
          eps(static_cast<float>(constants.eps)),
          unbias1(static_cast<float>(1 / constants.bias_correction1)),
          unbias2(static_cast<float>(1 / constants.bias_correction2)),
          gradient_scale(static_cast<float>(factors.gradient_scale)),
          weight_decay(static_cast<float>(factors.weight_decay)),
          momentum_rate(static_cast<float>(factors.momentum_rate)),
          gradient_rate(static_cast<float>(factors.gradient_rate)) {}
};

BERTPRETRAIN_INLINE void update_moments(const float* __restrict gradient, float* __restrict exp_avg, float* __restrict exp_avg_sq,
                                        std::int64_t n, const Scalars& s) {
    for (std::int64_t i = 0; i < n; ++i) {
        const float g = gradient[i] * s.gradient_scale;
        exp_avg[i] = exp_avg[i] * s.beta1 + g * s.one_minus_beta1;
        exp_avg_sq[i] = exp_avg_sq[i] * s.beta2 + g * g * s.one_minus_beta2;
    }
}

/// @param numerator the first moment, or the gradient; multiplied by `scale`
BERTPRETRAIN_INLINE void direction(const float* __restrict numerator, float scale, const float* __restrict master,
                                   const float* __restrict exp_avg_sq, float* __restrict out, std::int64_t n, const Scalars& s) {
    for (std::int64_t i = 0; i < n; ++i)
        out[i] = numerator[i] * scale / (std::sqrt(exp_avg_sq[i] * s.unbias2) + s.eps) + master[i] * s.weight_decay;
}

BERTPRETRAIN_INLINE void subtract(float* __restrict master, const float* __restrict step, float rate, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) master[i] -= step[i] * rate;
}

BERTPRETRAIN_INLINE void subtract_two(float* __restrict master, const float* __restrict first, float first_rate,
                                      const float* __restrict second, float second_rate, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) master[i] -= first[i] * first_rate + second[i] * second_rate;
}

/// Rounds to nearest even; a NaN stays a NaN.
BERTPRETRAIN_INLINE void round_to_bf16(const float* __restrict values, std::uint16_t* __restrict out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
        const auto bits = std::bit_cast<std::uint32_t>(values[i]);
        const std::uint32_t rounded = (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16;
        const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
        out[i] = static_cast<std::uint16_t>(is_nan ? 0x7FC0U : rounded);
    }
}

/// Pointers to the data of a pass.
struct Pointers {
    const float* gradient;
    float* master;
    float* exp_avg;
    float* exp_avg_sq;
    float* weights_fp32 = nullptr;  ///< one of the two is null
    std::uint16_t* weights_bf16 = nullptr;

    explicit Pointers(const OptimizerPass& pass)
        : gradient(pass.gradient.const_data_ptr<float>()),
          master(pass.state.master.mutable_data_ptr<float>()),
          exp_avg(pass.state.exp_avg.mutable_data_ptr<float>()),
          exp_avg_sq(pass.state.exp_avg_sq.mutable_data_ptr<float>()) {
        if (pass.compute_weights.scalar_type() == at::kFloat) weights_fp32 = pass.compute_weights.mutable_data_ptr<float>();
        else weights_bf16 = reinterpret_cast<std::uint16_t*>(pass.compute_weights.mutable_data_ptr<at::BFloat16>());
    }

    void copy_out(const TensorRun& part) const {
        const float* from = master + part.begin;
        if (weights_bf16 != nullptr) by_instruction_set<&round_to_bf16>(from, weights_bf16 + part.in_flat, part.elements);
        else std::memcpy(weights_fp32 + part.in_flat, from, static_cast<std::size_t>(part.elements) * sizeof(float));
    }
};

/// The step of one part on one thread.
struct PartStep {
    const Pointers& at;
    const TensorRun& part;
    Scalars scalars;

    void moments() const {
        by_instruction_set<&update_moments>(at.gradient + part.begin, at.exp_avg + part.begin, at.exp_avg_sq + part.begin,
                                            part.elements, scalars);
    }
    void momentum_direction(float* out) const { direct(at.exp_avg, scalars.unbias1, out); }
    void gradient_direction(float* out) const { direct(at.gradient, scalars.gradient_scale, out); }
    void move(const float* step) const {
        by_instruction_set<&subtract>(at.master + part.begin, step, scalars.momentum_rate, part.elements);
        at.copy_out(part);
    }
    void move(const float* momentum_step, const float* gradient_step) const {
        by_instruction_set<&subtract_two>(at.master + part.begin, momentum_step, scalars.momentum_rate, gradient_step,
                                          scalars.gradient_rate, part.elements);
        at.copy_out(part);
    }
    double master_squares() const { return by_instruction_set<&square_sum>(at.master + part.begin, part.elements); }

private:
    void direct(const float* numerator, float scale, float* out) const {
        by_instruction_set<&direction>(numerator + part.begin, scale, at.master + part.begin, at.exp_avg_sq + part.begin, out,
                                       part.elements, scalars);
    }
};

/// Calls body(PartStep, index of the part) in parallel. Parts are independent, so their order does not matter.
template <class Body>
void for_each_part(const OptimizerPass& pass, const Body& body) {
    const Pointers at(pass);
    const auto count = std::ssize(pass.blocks.parts);
#pragma omp parallel for schedule(static)
    for (std::ptrdiff_t i = 0; i < count; ++i) {
        const TensorRun& part = pass.blocks.parts[static_cast<std::size_t>(i)];
        body(PartStep{at, part, Scalars(pass.constants, pass.factors[part.tensor])}, static_cast<std::size_t>(i));
    }
}

class CpuOptimizerKernels final : public OptimizerKernels {
public:
    void sum_squares(const at::Tensor& values, const BlockedRuns& blocks, std::span<double> sums) const override {
        const float* data = values.const_data_ptr<float>();
        const auto count = std::ssize(blocks.parts);
#pragma omp parallel for schedule(static)
        for (std::ptrdiff_t i = 0; i < count; ++i) {
            const TensorRun& part = blocks.parts[static_cast<std::size_t>(i)];
            sums[static_cast<std::size_t>(i)] = by_instruction_set<&square_sum>(data + part.begin, part.elements);
        }
    }

    void adamw(const OptimizerPass& pass) const override {
        for_each_part(pass, [](const PartStep& step, std::size_t) {
            float direction_buffer[optimizer_block_elements];
            step.moments();
            step.momentum_direction(direction_buffer);
            step.move(direction_buffer);
        });
    }

    void lamb_moments(const OptimizerPass& pass, std::span<double> sums) const override {
        for_each_part(pass, [&](const PartStep& step, std::size_t i) {
            float direction_buffer[optimizer_block_elements];
            step.moments();
            step.momentum_direction(direction_buffer);
            sums[2 * i] = step.master_squares();
            sums[2 * i + 1] = by_instruction_set<&square_sum>(direction_buffer, step.part.elements);
        });
    }

    void lamb_apply(const OptimizerPass& pass) const override {
        for_each_part(pass, [](const PartStep& step, std::size_t) {
            float direction_buffer[optimizer_block_elements];
            step.momentum_direction(direction_buffer);
            step.move(direction_buffer);
        });
    }

    void lans_moments(const OptimizerPass& pass, std::span<double> sums) const override {
        for_each_part(pass, [&](const PartStep& step, std::size_t i) {
            float direction_buffer[optimizer_block_elements];
            step.moments();
            sums[3 * i] = step.master_squares();
            step.momentum_direction(direction_buffer);
            sums[3 * i + 1] = by_instruction_set<&square_sum>(direction_buffer, step.part.elements);
            step.gradient_direction(direction_buffer);
            sums[3 * i + 2] = by_instruction_set<&square_sum>(direction_buffer, step.part.elements);
        });
    }

    void lans_apply(const OptimizerPass& pass) const override {
        for_each_part(pass, [](const PartStep& step, std::size_t) {
            float momentum_buffer[optimizer_block_elements], gradient_buffer[optimizer_block_elements];
            step.momentum_direction(momentum_buffer);
            step.gradient_direction(gradient_buffer);
            step.move(momentum_buffer, gradient_buffer);
        });
    }
};

}  // namespace

const OptimizerKernels& cpu_optimizer_kernels() {
    static const CpuOptimizerKernels kernels;
    return kernels;
}

}  // namespace bertpretrain
