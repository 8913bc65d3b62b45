// dropout + residual + LayerNorm or RMSNorm, forward and backward, each in one pass over the rows.
#include <cmath>
#include <memory>
#include <type_traits>

#include <ATen/ATen.h>

#include "kernels/cpu/dropout_factors.h"
#include "kernels/cpu/row_chunks.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cpu {
namespace {

/// Inputs of one row that forward and backward share.
struct Row {
    std::int64_t width;
    const float* keep;  ///< dropout factors, or null
    const float* weight;
    const float* bias;
    float eps;
    float centers;  ///< 1: the mean is subtracted (LayerNorm); 0: it is not (RMSNorm)
};

float centers_of(const NormParameters& norm) { return norm.kind == NormKind::layer ? 1.0F : 0.0F; }

/// Calls body(W, S) with the types of compute dtype and sum.
void with_types(at::ScalarType compute_dtype, at::ScalarType sum_dtype, const auto& body) {
    if (is_bf16_sum(sum_dtype, compute_dtype)) body(Bf16{}, Bf16{});
    else with_compute_dtype(compute_dtype, [&](auto w) { body(w, float{}); });
}

/// A row of the residual (Residual): `at`, or its LayerNorm if `weight` is not null.
template <class S>
struct ResidualRow {
    const S* at;  ///< null: no residual
    float mean, rstd;
    const float *weight, *bias;
};

template <class S>
BERTPRETRAIN_INLINE void add_residual(const ResidualRow<S>& residual, std::int64_t width, float* sum) {
    const S* at = residual.at;
    const float *weight = residual.weight, *bias = residual.bias;
    const float mean = residual.mean, rstd = residual.rstd;
    if (at != nullptr && weight != nullptr)
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) sum[i] += (load(at + i) - mean) * rstd * weight[i] + bias[i];
    else if (at != nullptr)
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) sum[i] += load(at + i);
}

/// @param sum in fp32; if S is Bf16, it is rounded, and written to `stored`, too
template <class W, class S>
BERTPRETRAIN_INLINE void norm_row(const Row& row, const W* out, const float* out_bias, const ResidualRow<S>& residual, float* sum,
                                  S* stored, W* normed, float* normed_fp32, float* mean, float* rstd) {
    const std::int64_t width = row.width;
    if (out == nullptr)
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) sum[i] = 0;
    else if (row.keep != nullptr)
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) sum[i] = (load(out + i) + out_bias[i]) * row.keep[i];
    else
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) sum[i] = load(out + i) + out_bias[i];
    add_residual(residual, width, sum);
    if constexpr (std::is_same_v<S, Bf16>)
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) {
            store(stored + i, sum[i]);
            sum[i] = load(stored + i);
        }
    float total = 0;
#pragma omp simd reduction(+ : total)
    for (std::int64_t i = 0; i < width; ++i) total += sum[i];
    const float center = row.centers * (total / static_cast<float>(width));
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (std::int64_t i = 0; i < width; ++i) squares += (sum[i] - center) * (sum[i] - center);
    const float scale = 1.0F / std::sqrt(squares / static_cast<float>(width) + row.eps);
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) store(normed + i, (sum[i] - center) * scale * row.weight[i] + row.bias[i]);
    if (normed_fp32 != nullptr)
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) normed_fp32[i] = (sum[i] - center) * scale * row.weight[i] + row.bias[i];
    *mean = center;
    *rstd = scale;
}

/// Inputs and outputs of the backward of one row; null pointers stand for undefined tensors.
template <class W, class S>
struct BackwardRow {
    const W* d_normed;
    const S* d_residual;
    const S* d_sum_past;
    const S* sum;
    float mean, rstd;
    S* d_sum;
    W* d_out;
    float *d_weight, *d_bias, *d_out_bias;  ///< sums over the rows of a chunk
};

// `scratch` holds `width` floats; d_sum receives the gradient in fp32, and at.d_sum is the same memory unless S is Bf16. Members
// are copied into locals first: loops over values that a store might change through another pointer cannot be vectorized.
template <class W, class S>
BERTPRETRAIN_INLINE void norm_backward_row(const Row& row, const BackwardRow<W, S>& at, float* scratch, float* d_sum) {
    const std::int64_t width = row.width;
    const W* d_normed = at.d_normed;
    const S *d_residual = at.d_residual, *d_sum_past = at.d_sum_past, *sum = at.sum;
    const float *weight = row.weight, *keep = row.keep;
    if (d_normed != nullptr && d_residual != nullptr)
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) scratch[i] = load(d_normed + i) + load(d_residual + i);
    else if (d_normed != nullptr)
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) scratch[i] = load(d_normed + i);
    else
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) scratch[i] = load(d_residual + i);
    const float mean = at.mean, rstd = at.rstd;
    float *d_weight = at.d_weight, *d_bias = at.d_bias;
    float along_one = 0, along_normal = 0;
#pragma omp simd reduction(+ : along_one, along_normal)
    for (std::int64_t i = 0; i < width; ++i) {
        const float normal = (load(sum + i) - mean) * rstd;
        d_weight[i] += scratch[i] * normal;
        d_bias[i] += scratch[i];
        scratch[i] *= weight[i];
        along_one += scratch[i];
        along_normal += scratch[i] * normal;
    }
    along_one = row.centers * (along_one / static_cast<float>(width));
    along_normal /= static_cast<float>(width);
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) {
        const float normal = (load(sum + i) - mean) * rstd;
        d_sum[i] = rstd * (scratch[i] - along_one - normal * along_normal);
    }
    if (d_sum_past != nullptr)
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) d_sum[i] += load(d_sum_past + i);
    if constexpr (std::is_same_v<S, Bf16>) {
        S* stored = at.d_sum;
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) store(stored + i, d_sum[i]);
    }
    W* d_out = at.d_out;
    float* d_out_bias = at.d_out_bias;
    if (d_out == nullptr) return;
    if (keep != nullptr)
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) scratch[i] = d_sum[i] * keep[i];
    else
#pragma omp simd
        for (std::int64_t i = 0; i < width; ++i) scratch[i] = d_sum[i];
#pragma omp simd
    for (std::int64_t i = 0; i < width; ++i) {
        d_out_bias[i] += scratch[i];
        store(d_out + i, scratch[i]);
    }
}

}  // namespace

NormResult dropout_residual_norm(const NormArguments& arguments) {
    const auto& [out_TH, bias_H, residual, norm, eps, dropout, rows, compute_dtype, keep_fp32, sum_dtype, unused] = arguments;
    const at::Tensor& shape_like = out_TH.defined() ? out_TH : residual.rows();
    const std::int64_t T = shape_like.size(0), H = shape_like.size(1);
    const at::Tensor out_bias_H = bias_or_zeros(bias_H, shape_like), norm_bias_H = bias_or_zeros(norm.bias_H, shape_like);
    NormResult result;
    result.has_out = out_TH.defined();
    result.sum_TH = at::empty({T, H}, sum_dtype);
    result.normed_TH = at::empty({T, H}, compute_dtype);
    if (keep_fp32) result.normed_fp32_TH = at::empty({T, H}, at::kFloat);
    result.mean_T = at::empty({T}, at::kFloat);
    result.rstd_T = at::empty({T}, at::kFloat);
    with_types(compute_dtype, sum_dtype, [&](auto w, auto s) {
        using W = decltype(w);
        using S = decltype(s);
        const auto at_row = [H](auto* data, std::int64_t t) { return data == nullptr ? nullptr : data + t * H; };
        const W* out = compute_data<W>(out_TH);
        W* normed = compute_data<W>(result.normed_TH);
        const S* added = compute_data<S>(residual.rows());
        S* stored = compute_data<S>(result.sum_TH);
        const float *bias = fp32_data(out_bias_H), *added_mean = fp32_data(residual.mean()),
                    *added_rstd = fp32_data(residual.rstd());
        float* fp32 = fp32_data(result.normed_fp32_TH);
        const auto* sample = rows.sample_T.data_ptr<std::int64_t>();
        const auto* position = rows.position_T.data_ptr<std::int64_t>();
        for_row_chunks(T, [&](std::int64_t, std::int64_t first, std::int64_t end) {
            const auto buffer = std::make_unique<float[]>(static_cast<std::size_t>(2 * H + 128));
            float *sum_row = buffer.get(), *keep = buffer.get() + H;
            const bool drops = dropout.active() && out != nullptr;
            const Row row{H,
                          drops ? keep : nullptr,
                          fp32_data(norm.weight_H),
                          fp32_data(norm_bias_H),
                          static_cast<float>(eps),
                          centers_of(norm)};
            for (std::int64_t t = first; t < end; ++t) {
                fetch(at_row(out, t + 1), H);
                fetch(at_row(added, t + 1), H);
                if (drops)
                    fill_dropout_factors(dropout, static_cast<std::uint64_t>(sample[t]), static_cast<std::uint32_t>(position[t]),
                                         0, H, keep);
                ResidualRow<S> of_residual{at_row(added, t), 0, 0, nullptr, nullptr};
                if (residual.is_normed())
                    of_residual = {of_residual.at, added_mean[t], added_rstd[t], fp32_data(residual.norm().weight_H),
                                   fp32_data(residual.norm().bias_H)};
                if constexpr (std::is_same_v<S, float>) sum_row = stored + t * H;
                by_instruction_set<&norm_row<W, S>>(row, at_row(out, t), bias, of_residual, sum_row, stored + t * H,
                                                    normed + t * H, at_row(fp32, t), result.mean_T.data_ptr<float>() + t,
                                                    result.rstd_T.data_ptr<float>() + t);
            }
        });
    });
    return result;
}

NormGradients dropout_residual_norm_backward(const NormBackwardArguments& arguments) {
    const auto& [d_normed_TH, d_residual_TH, d_sum_TH, forward, norm, dropout, rows, compute_dtype, d_norm, d_bias_H, unused] =
        arguments;
    const std::int64_t T = forward.sum_TH.size(0), H = forward.sum_TH.size(1);
    NormGradients gradients;
    gradients.sum_TH = at::empty_like(forward.sum_TH);
    if (forward.has_out) gradients.out_TH = at::empty({T, H}, compute_dtype);
    ColumnSums weight_sums(T, H), bias_sums(T, H), out_bias_sums(forward.has_out ? T : 0, H);
    with_types(compute_dtype, forward.sum_TH.scalar_type(), [&](auto w, auto s) {
        using W = decltype(w);
        using S = decltype(s);
        const auto at_row = [H](auto* data, std::int64_t t) { return data == nullptr ? nullptr : data + t * H; };
        const auto* sample = rows.sample_T.data_ptr<std::int64_t>();
        const auto* position = rows.position_T.data_ptr<std::int64_t>();
        const bool drops = dropout.active() && forward.has_out;
        for_row_chunks(T, [&](std::int64_t chunk, std::int64_t first, std::int64_t end) {
            const auto buffer = std::make_unique<float[]>(static_cast<std::size_t>(3 * H + 128));
            float *scratch = buffer.get(), *d_sum = buffer.get() + H, *keep = buffer.get() + 2 * H;
            const Row row{H, drops ? keep : nullptr, fp32_data(norm.weight_H), nullptr, 0, centers_of(norm)};
            for (std::int64_t t = first; t < end; ++t) {
                if (drops)
                    fill_dropout_factors(dropout, static_cast<std::uint64_t>(sample[t]), static_cast<std::uint32_t>(position[t]),
                                         0, H, keep);
                S* stored = at_row(compute_data<S>(gradients.sum_TH), t);
                if constexpr (std::is_same_v<S, float>) d_sum = stored;
                by_instruction_set<&norm_backward_row<W, S>>(
                    row,
                    BackwardRow<W, S>{at_row(compute_data<W>(d_normed_TH), t), at_row(compute_data<S>(d_residual_TH), t),
                                      at_row(compute_data<S>(d_sum_TH), t), at_row(compute_data<S>(forward.sum_TH), t),
                                      forward.mean_T.data_ptr<float>()[t], forward.rstd_T.data_ptr<float>()[t], stored,
                                      at_row(compute_data<W>(gradients.out_TH), t), weight_sums.chunk(chunk),
                                      bias_sums.chunk(chunk), forward.has_out ? out_bias_sums.chunk(chunk) : nullptr},
                    scratch, d_sum);
            }
        });
    });
    weight_sums.add_to(fp32_data(d_norm.weight_H));
    if (d_norm.bias_H.defined()) bias_sums.add_to(fp32_data(d_norm.bias_H));
    if (d_bias_H.defined()) out_bias_sums.add_to(fp32_data(d_bias_H));
    return gradients;
}

at::Tensor dropout_rows(const at::Tensor& x_TH, const Dropout& dropout, const RowKeys& rows) {
    if (!dropout.active()) return x_TH;
    const std::int64_t T = x_TH.size(0), H = x_TH.size(1);
    at::Tensor y_TH = at::empty_like(x_TH);
    const float* x = fp32_data(x_TH);
    float* y = fp32_data(y_TH);
    const auto* sample = rows.sample_T.data_ptr<std::int64_t>();
    const auto* position = rows.position_T.data_ptr<std::int64_t>();
    for_row_chunks(T, [&](std::int64_t, std::int64_t first, std::int64_t end) {
        const auto keep = std::make_unique<float[]>(static_cast<std::size_t>(H + 128));
        for (std::int64_t t = first; t < end; ++t) {
            fill_dropout_factors(dropout, static_cast<std::uint64_t>(sample[t]), static_cast<std::uint32_t>(position[t]), 0, H,
                                 keep.get());
            for (std::int64_t i = 0; i < H; ++i) y[t * H + i] = x[t * H + i] * keep[static_cast<std::size_t>(i)];
        }
    });
    return y_TH;
}

}  // namespace bertpretrain::cpu
