#pragma once
// The fused operations of the model, one header for every device. The plain-ATen functions of reference/ are their
// specification; the vectorized functions of cpu/ and the kernels of cuda/ are tested against them.
//
// Axes: T tokens of all sequences without padding, B sequences, N heads, H hidden size, F intermediate size, V vocabulary,
// M masked positions. "Compute dtype" is bf16 or fp32, depending on the run's precision. Biases, LayerNorm parameters and
// parameter gradients are always fp32. Functions add to parameter gradients instead of overwriting them.
// No function synchronizes with the device.

#include <cstdint>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "kernels/dropout.h"

namespace bertpretrain {

/// The token in each row, which selects the row's dropout mask: int64 tensors of T elements on the device.
struct RowKeys {
    at::Tensor sample_T, position_T;
};

/// The parameters of a LayerNorm or their gradients: fp32, H elements each.
struct NormParameters {
    at::Tensor weight_H, bias_H;
};

/// Output of the fused LayerNorm; the backward needs `sum`, `mean` and `rstd`.
struct NormResult {
    at::Tensor sum_TH;          ///< fp32: LayerNorm's input
    at::Tensor normed_TH;       ///< compute dtype: input of the next matmul
    at::Tensor normed_fp32_TH;  ///< fp32; defined only on request (the residual of post-LN)
    at::Tensor mean_T, rstd_T;  ///< fp32
};

/// The residual input of a sublayer: fp32 rows, or the LayerNorm of fp32 rows. A LayerNorm is recomputed wherever it is read,
/// which saves writing and reading its fp32 output.
class Residual {
public:
    Residual() = default;
    /// @param rows_TH fp32, may be undefined
    Residual(at::Tensor rows_TH) : rows_TH_(std::move(rows_TH)) {}
    /// The fp32 output of the LayerNorm that produced `normed`.
    static Residual of(const NormResult& normed, const NormParameters& norm);

    bool defined() const { return rows_TH_.defined(); }
    /// Whether the residual is the LayerNorm of rows().
    bool is_normed() const { return mean_T_.defined(); }
    const at::Tensor& rows() const { return rows_TH_; }
    const at::Tensor& mean() const { return mean_T_; }
    const at::Tensor& rstd() const { return rstd_T_; }
    const NormParameters& norm() const { return norm_; }

    /// Returns the residual as fp32 rows, T x H; undefined if the residual is.
    at::Tensor fp32() const;
    /// Returns the residual restricted to the rows `index_R` (int64).
    Residual select(const at::Tensor& index_R) const;

private:
    at::Tensor rows_TH_, mean_T_, rstd_T_;
    NormParameters norm_;
};

struct NormGradients {
    at::Tensor sum_TH;  ///< fp32: gradient of `sum`, and also of the residual
    at::Tensor out_TH;  ///< compute dtype: gradient of `out`; undefined if the forward had no `out`
};

enum class Activation { gelu_erf, gelu_tanh };

/// Sequences without padding: sequence b is rows [starts[b], starts[b + 1]). Rows after the last sequence belong to no sequence;
/// their context and gradients are zero.
struct Attention {
    const std::vector<std::int64_t>& starts_B1;
    const std::vector<std::int64_t>& samples_B;
    std::int64_t heads;
    Dropout dropout;
    /// The same starts and samples as int64 tensors on the device; if undefined, operations that need them copy them there.
    at::Tensor device_starts_B1{}, device_samples_B{};
};

struct AttentionResult {
    at::Tensor context_TH;      ///< compute dtype
    at::Tensor log_sum_exp_TN;  ///< fp32: log-sum-exp of each row of scores, for the backward
    at::Tensor biased_T3H{};    ///< compute dtype: qkv + bias; defined only if the forward had to write it, and then the
                                ///< backward reads it instead of qkv
};

#include "kernels/fused_functions.inc"

}  // namespace bertpretrain
