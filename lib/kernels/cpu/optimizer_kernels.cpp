// The kernels are bound by memory. A few cache lines of each array go through several short loops while they are in the
// first-level cache, and the same lines of all arrays are requested ahead: with longer loops, memory works on one array while
// the others wait.
#include "kernels/interface/optimizer_kernels.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/cpu/vector_math.h"
#include "kernels/cpu/work_stealing.h"

namespace bertpretrain {
namespace {

using cpu::by_instruction_set;
using cpu::fetch;

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

BERTPRETRAIN_INLINE void normalize(const float* __restrict gradient, const float* __restrict exp_avg_sq, float* __restrict out,
                                   std::int64_t n, const Scalars& s) {
    for (std::int64_t i = 0; i < n; ++i) {
        const float root = std::sqrt(exp_avg_sq[i] * s.unbias2);
        out[i] = gradient[i] * s.gradient_scale / (root > s.eps ? root : s.eps);
    }
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

/// Pointers to the data of a part.
struct Elements {
    const float* gradient;
    float *master, *exp_avg, *exp_avg_sq;
    float* weights_fp32 = nullptr;  ///< one of the two is null
    std::uint16_t* weights_bf16 = nullptr;

    Elements(const OptimizerPass& pass, const TensorRun& part)
        : gradient(pass.gradient.const_data_ptr<float>() + part.begin),
          master(pass.state.master.mutable_data_ptr<float>() + part.begin),
          exp_avg(pass.state.exp_avg.mutable_data_ptr<float>() + part.begin),
          exp_avg_sq(pass.state.exp_avg_sq.mutable_data_ptr<float>() + part.begin) {
        const at::Tensor& weights = pass.compute_weights;
        if (weights.scalar_type() == at::kFloat) weights_fp32 = weights.mutable_data_ptr<float>() + part.in_flat;
        else weights_bf16 = reinterpret_cast<std::uint16_t*>(weights.mutable_data_ptr<at::BFloat16>()) + part.in_flat;
    }
};

constexpr std::int64_t stretch_elements = 64, elements_ahead = 512;

/// Up to stretch_elements of a part, from `first` on.
struct Stretch {
    const Elements& of;
    const Scalars& s;
    std::int64_t first, n;

    BERTPRETRAIN_INLINE_MEMBER void request_ahead() const {
        for (const float* values : {of.gradient, static_cast<const float*>(of.exp_avg), static_cast<const float*>(of.exp_avg_sq),
                                    static_cast<const float*>(of.master)})
            fetch(values + first + elements_ahead, stretch_elements);
    }
    BERTPRETRAIN_INLINE_MEMBER void moments() const {
        update_moments(of.gradient + first, of.exp_avg + first, of.exp_avg_sq + first, n, s);
    }
    BERTPRETRAIN_INLINE_MEMBER void momentum_direction(float* out) const { direct(of.exp_avg, s.unbias1, out); }
    BERTPRETRAIN_INLINE_MEMBER void gradient_direction(float* out) const { direct(of.gradient, s.gradient_scale, out); }
    BERTPRETRAIN_INLINE_MEMBER void normalized_gradient(float* out) const {
        normalize(of.gradient + first, of.exp_avg_sq + first, out, n, s);
    }
    BERTPRETRAIN_INLINE_MEMBER void move(const float* step) const {
        subtract(of.master + first, step, s.momentum_rate, n);
        copy_out();
    }
    BERTPRETRAIN_INLINE_MEMBER void move(const float* momentum_step, const float* gradient_step) const {
        subtract_two(of.master + first, momentum_step, s.momentum_rate, gradient_step, s.gradient_rate, n);
        copy_out();
    }

private:
    BERTPRETRAIN_INLINE_MEMBER void direct(const float* numerator, float scale, float* out) const {
        direction(numerator + first, scale, of.master + first, of.exp_avg_sq + first, out, n, s);
    }
    BERTPRETRAIN_INLINE_MEMBER void copy_out() const {
        const float* from = of.master + first;
        if (of.weights_bf16 != nullptr) round_to_bf16(from, of.weights_bf16 + first, n);
        else std::memcpy(of.weights_fp32 + first, from, static_cast<std::size_t>(n) * sizeof(float));
    }
};

/// Calls body(Stretch) for each stretch of a part. The lengths of all but the last are known to the compiler.
template <class Body>
BERTPRETRAIN_INLINE void for_stretches(const Elements& of, const Scalars& s, std::int64_t n, const Body& body) {
    std::int64_t first = 0;
    for (; first + stretch_elements <= n; first += stretch_elements) {
        const Stretch whole{of, s, first, stretch_elements};
        whole.request_ahead();
        body(whole);
    }
    if (first < n) body(Stretch{of, s, first, n - first});
}

BERTPRETRAIN_INLINE void adamw_part(const Elements& of, const Scalars& s, std::int64_t n) {
    for_stretches(of, s, n, [](const Stretch& one) BERTPRETRAIN_INLINE_MEMBER {
        float step[stretch_elements];
        one.moments();
        one.momentum_direction(step);
        one.move(step);
    });
}

/// @param momentum_step of all elements of the part
BERTPRETRAIN_INLINE void lamb_moments_part(const Elements& of, const Scalars& s, std::int64_t n, float* momentum_step) {
    for_stretches(of, s, n, [=](const Stretch& one) BERTPRETRAIN_INLINE_MEMBER {
        one.moments();
        one.momentum_direction(momentum_step + one.first);
    });
}

BERTPRETRAIN_INLINE void lamb_apply_part(const Elements& of, const Scalars& s, std::int64_t n) {
    for_stretches(of, s, n, [](const Stretch& one) BERTPRETRAIN_INLINE_MEMBER {
        float step[stretch_elements];
        one.momentum_direction(step);
        one.move(step);
    });
}

BERTPRETRAIN_INLINE void lans_moments_part(const Elements& of, const Scalars& s, std::int64_t n, float* momentum_step,
                                           float* gradient_step) {
    for_stretches(of, s, n, [=](const Stretch& one) BERTPRETRAIN_INLINE_MEMBER {
        one.moments();
        one.momentum_direction(momentum_step + one.first);
        one.gradient_direction(gradient_step + one.first);
    });
}

BERTPRETRAIN_INLINE void lans_apply_part(const Elements& of, const Scalars& s, std::int64_t n) {
    for_stretches(of, s, n, [](const Stretch& one) BERTPRETRAIN_INLINE_MEMBER {
        float momentum_step[stretch_elements], gradient_step[stretch_elements];
        one.momentum_direction(momentum_step);
        one.gradient_direction(gradient_step);
        one.move(momentum_step, gradient_step);
    });
}

/// @param normalized of all elements of the part
BERTPRETRAIN_INLINE void stable_adamw_moments_part(const Elements& of, const Scalars& s, std::int64_t n, float* normalized) {
    for_stretches(of, s, n, [=](const Stretch& one) BERTPRETRAIN_INLINE_MEMBER {
        one.moments();
        one.normalized_gradient(normalized + one.first);
    });
}

/// Calls body(Elements, Scalars, number of elements, index of the part) in parallel. Parts are independent, so their order does
/// not matter.
template <class Body>
void for_each_part(const OptimizerPass& pass, const Body& body) {
    cpu::for_each_piece(std::ssize(pass.blocks.parts), [&](std::int64_t i) {
        const auto index = static_cast<std::size_t>(i);
        const TensorRun& part = pass.blocks.parts[index];
        body(Elements(pass, part), Scalars(pass.constants, pass.factors[part.tensor]), part.elements, index);
    });
}

double squares(const float* values, std::int64_t n) { return by_instruction_set<&square_sum>(values, n); }

class CpuOptimizerKernels final : public OptimizerKernels {
public:
    void sum_squares(const at::Tensor& values, const BlockedRuns& blocks, std::span<double> sums) const override {
        const float* data = values.const_data_ptr<float>();
        cpu::for_each_piece(std::ssize(blocks.parts), [&](std::int64_t i) {
            const TensorRun& part = blocks.parts[static_cast<std::size_t>(i)];
            sums[static_cast<std::size_t>(i)] = squares(data + part.begin, part.elements);
        });
    }

    void adamw(const OptimizerPass& pass) const override {
        for_each_part(pass, [](const Elements& of, const Scalars& scalars, std::int64_t n, std::size_t) {
            by_instruction_set<&adamw_part>(of, scalars, n);
        });
    }

    void lamb_moments(const OptimizerPass& pass, std::span<double> sums) const override {
        for_each_part(pass, [&](const Elements& of, const Scalars& scalars, std::int64_t n, std::size_t i) {
            float step[optimizer_block_elements];
            by_instruction_set<&lamb_moments_part>(of, scalars, n, +step);
            sums[2 * i] = squares(of.master, n);
            sums[2 * i + 1] = squares(step, n);
        });
    }

    void lamb_apply(const OptimizerPass& pass) const override {
        for_each_part(pass, [](const Elements& of, const Scalars& scalars, std::int64_t n, std::size_t) {
            by_instruction_set<&lamb_apply_part>(of, scalars, n);
        });
    }

    void lans_moments(const OptimizerPass& pass, std::span<double> sums) const override {
        for_each_part(pass, [&](const Elements& of, const Scalars& scalars, std::int64_t n, std::size_t i) {
            float momentum_step[optimizer_block_elements], gradient_step[optimizer_block_elements];
            by_instruction_set<&lans_moments_part>(of, scalars, n, +momentum_step, +gradient_step);
            sums[3 * i] = squares(of.master, n);
            sums[3 * i + 1] = squares(momentum_step, n);
            sums[3 * i + 2] = squares(gradient_step, n);
        });
    }

    void lans_apply(const OptimizerPass& pass) const override {
        for_each_part(pass, [](const Elements& of, const Scalars& scalars, std::int64_t n, std::size_t) {
            by_instruction_set<&lans_apply_part>(of, scalars, n);
        });
    }

    void stable_adamw_moments(const OptimizerPass& pass, std::span<double> sums) const override {
        for_each_part(pass, [&](const Elements& of, const Scalars& scalars, std::int64_t n, std::size_t i) {
            float normalized[optimizer_block_elements];
            by_instruction_set<&stable_adamw_moments_part>(of, scalars, n, +normalized);
            sums[i] = squares(normalized, n);
        });
    }
};

}  // namespace

const OptimizerKernels& cpu_optimizer_kernels() {
    static const CpuOptimizerKernels kernels;
    return kernels;
}

}  // namespace bertpretrain
