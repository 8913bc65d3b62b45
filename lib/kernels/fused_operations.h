#pragma once
// The fused operations of the model: one header for every device. The plain-ATen functions of reference/ are their
// specification; on the CPU the vectorized ones of cpu/ run instead and are tested against them.
//
// Axes: T tokens of all sequences without padding, B sequences, N heads, H hidden size, F intermediate size, V vocabulary,
// M masked positions. "compute_dtype" tensors are bf16 or fp32 after the run's precision; "fp32" ones are always fp32, as are
// biases, LayerNorm parameters and gradients of parameters. Gradients of parameters are added to what is there.
// No function waits for the device.

#include <cstdint>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "kernels/dropout.h"

namespace bertpretrain {

/// Which token every row is, as dropout sees it: int64 tensors of T elements on the device.
struct RowKeys {
    at::Tensor sample_T, position_T;
};

/// A LayerNorm's parameters, or their gradients: fp32 of H elements.
struct NormParameters {
    at::Tensor weight_H, bias_H;
};

/// What normalizing leaves behind; `sum`, `mean` and `rstd` are what the backward needs.
struct NormResult {
    at::Tensor sum_TH;          ///< fp32: what was normalized
    at::Tensor normed_TH;       ///< compute_dtype: the input of the next product
    at::Tensor normed_fp32_TH;  ///< fp32; defined when asked for (post-LN's residual)
    at::Tensor mean_T, rstd_T;
};

/// What a sublayer's output is added to: rows, or the LayerNorm of rows, which is computed again where it is read. The second
/// saves writing and reading it in fp32.
class Residual {
public:
    Residual() = default;
    /// @param rows_TH fp32, or undefined
    Residual(at::Tensor rows_TH) : rows_TH_(std::move(rows_TH)) {}
    /// The fp32 output of a LayerNorm, of which `normed` is the result.
    static Residual of(const NormResult& normed, const NormParameters& norm);

    bool defined() const { return rows_TH_.defined(); }
    /// Whether the LayerNorm of rows() is meant.
    bool is_normed() const { return mean_T_.defined(); }
    const at::Tensor& rows() const { return rows_TH_; }
    const at::Tensor& mean() const { return mean_T_; }
    const at::Tensor& rstd() const { return rstd_T_; }
    const NormParameters& norm() const { return norm_; }

    /// All of it as fp32 rows, T x H; undefined when it is.
    at::Tensor fp32() const;
    /// Its rows at `index_R` (int64).
    Residual select(const at::Tensor& index_R) const;

private:
    at::Tensor rows_TH_, mean_T_, rstd_T_;
    NormParameters norm_;
};

struct NormGradients {
    at::Tensor sum_TH;  ///< fp32: of `sum`, which is also the residual's
    at::Tensor out_TH;  ///< compute_dtype: of `out`; undefined when there was no `out`
};

enum class Activation { gelu_erf, gelu_tanh };

/// Sequences without padding: sequence b is rows [starts[b], starts[b + 1]). Rows behind the last sequence belong to none:
/// their context and gradients are zero.
struct Attention {
    const std::vector<std::int64_t>& starts_B1;
    const std::vector<std::int64_t>& samples_B;
    std::int64_t heads;
    Dropout dropout;
    /// The same starts and samples on the device, int64; where undefined, an operation that needs them there copies them.
    at::Tensor device_starts_B1{}, device_samples_B{};
};

struct AttentionResult {
    at::Tensor context_TH;      ///< compute_dtype
    at::Tensor log_sum_exp_TN;  ///< fp32: of each row of scores, for the backward
    at::Tensor biased_T3H{};    ///< compute_dtype: qkv with its bias, where the forward had to write it; the backward reads it
                                ///< instead of qkv
};

#include "kernels/fused_functions.inc"

}  // namespace bertpretrain
