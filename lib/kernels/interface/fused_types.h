#pragma once
// The arguments and results of the fused operations (fused_operations.h).
//
// Axes: T tokens of all sequences without padding, B sequences, N heads, H hidden size, D features of a head, F intermediate
// size, V vocabulary, M masked positions, P positions. "Compute dtype" is bf16 or fp32, depending on the run's precision. Biases,
// LayerNorm parameters and parameter gradients are always fp32.

#include <cstdint>
#include <optional>
#include <utility>

#include <ATen/core/Tensor.h>

#include "kernels/interface/dropout.h"
#include "kernels/interface/sequence_layout.h"

namespace bertpretrain {

/// The token in each row, which selects the row's dropout mask: int64 tensors of T elements on the device.
struct RowKeys {
    at::Tensor sample_T, position_T;
};

/// Returns the bias that is added to the rows: fp32 zeros of their width, on their device, if it is undefined.
at::Tensor bias_or_zeros(const at::Tensor& bias_X, const at::Tensor& rows_TX);

/// RMSNorm subtracts no mean. Source: Zhang and Sennrich 2019.
enum class NormKind { layer, rms };

/// The parameters of a norm or their gradients: fp32, H elements each. The bias may be undefined.
struct NormParameters {
    at::Tensor weight_H, bias_H;
    NormKind kind = NormKind::layer;
};

/// How a matmul's operand is rounded to fp8.
struct Quantizer {
    at::ScalarType type = at::kFloat8_e4m3fn;  ///< or at::kFloat8_e5m2
    at::Tensor scale_1;                        ///< fp32 on the operand's device, a power of two: elements are multiplied by it
    at::Tensor largest_1;                      ///< fp32, there too: becomes the largest of itself and the elements' magnitudes
};

/// A matmul's operand in fp8, and its transpose: tensor cores sum along rows of both operands.
struct Fp8Operand {
    at::Tensor rows_TC, columns_CT;
    at::Tensor inverse_scale_1;  ///< fp32 on their device: elements are the stored numbers times this

    bool defined() const { return columns_CT.defined(); }
};

/// Output of the fused LayerNorm; the backward needs `sum`, `mean` and `rstd`.
struct NormResult {
    at::Tensor sum_TH;          ///< NormArguments::sum_dtype: LayerNorm's input
    at::Tensor normed_TH;       ///< compute dtype: input of the next matmul
    at::Tensor normed_fp32_TH;  ///< fp32; defined only on request (the residual of post-LN)
    Fp8Operand normed_fp8;      ///< instead of normed_TH, from an implementation that rounds it (NormArguments::quantizer)
    at::Tensor mean_T, rstd_T;  ///< fp32; of NormKind::rms, zeros and 1 / root mean square
    bool has_out = false;       ///< whether `out` was defined: the backward then returns its gradient
};

/// The residual input of a sublayer: rows, or the LayerNorm of rows. A LayerNorm is recomputed wherever it is read, which saves
/// writing and reading its output.
class Residual {
public:
    Residual() = default;
    /// @param rows_TH NormArguments::sum_dtype, may be undefined
    Residual(at::Tensor rows_TH) : rows_TH_(std::move(rows_TH)) {}
    /// The unrounded output of the LayerNorm that produced `normed`.
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

/// Arguments of dropout_residual_norm().
struct NormArguments {
    at::Tensor out_TH{};  ///< compute dtype; if undefined, sum = residual
    at::Tensor bias_H{};  ///< of `out`; may be undefined
    Residual residual{};  ///< if undefined, nothing is added
    NormParameters norm{};
    double eps = 0;  ///< added to the variance
    Dropout dropout{};
    RowKeys rows{};
    at::ScalarType compute_dtype = at::kFloat;
    bool keep_fp32 = false;  ///< whether to return NormResult::normed_fp32_TH
    /// Type of the residual's rows and of the sum, fp32 or bf16; bf16 only if the compute dtype is bf16. The norm is that of the
    /// rounded sum.
    at::ScalarType sum_dtype = at::kFloat;
    /// How normed is to be rounded to fp8, as quantize() does. An implementation may do it at once, or leave it to quantize().
    std::optional<Quantizer> quantizer{};
};

/// Returns whether `sum_dtype` is bf16. @throws std::logic_error if it is, and the compute dtype is not
bool is_bf16_sum(at::ScalarType sum_dtype, at::ScalarType compute_dtype);

/// Arguments of dropout_residual_norm_backward().
struct NormBackwardArguments {
    at::Tensor d_normed_TH{};  ///< compute dtype, or undefined
    /// The sum's dtype, or undefined: added to d_normed, because the output of post-LN is the next residual, too.
    at::Tensor d_residual_TH{};
    /// The sum's dtype, or undefined: the gradient that reaches `sum` without passing the LayerNorm (pre-LN's residual).
    at::Tensor d_sum_TH{};
    NormResult forward{};
    NormParameters norm{};
    Dropout dropout{};
    RowKeys rows{};
    at::ScalarType compute_dtype = at::kFloat;
    NormParameters d_norm{};               ///< parameter gradients, accumulated
    at::Tensor d_bias_H{};                 ///< likewise, of bias_H
    std::optional<Quantizer> quantizer{};  ///< of the gradient of `out`, as in NormArguments
};

struct NormGradients {
    at::Tensor sum_TH;   ///< the sum's dtype: gradient of `sum`, and also of the residual
    at::Tensor out_TH;   ///< compute dtype: gradient of `out`; undefined if the forward had no `out`
    Fp8Operand out_fp8;  ///< instead of out_TH, from an implementation that rounds it (NormBackwardArguments::quantizer)
};

enum class Activation { gelu_erf, gelu_tanh, silu };

/// A matmul's operand, as it is computed: x itself, an activation of it, or the gradient of an activation's x.
struct OperandSource {
    at::Tensor x_TC{};  ///< compute dtype; of a gated activation, T x 2F
    std::optional<Activation> activation{};
    bool is_gated = false;
    at::Tensor bias_C{};    ///< added before the activation; undefined: none
    at::Tensor dy_TF{};     ///< defined: the operand is the gradient of x
    at::Tensor d_bias_C{};  ///< then the bias's gradient is added here
    Fp8Operand rounded{};   ///< defined: what computed the operand has rounded it; the rest is then undefined
};

/// Rotary position embedding of queries and keys: features j and j + D/2 of a head are rotated by the angle of j at the token's
/// position. Source: Su et al. 2021, in the layout of transformers' rotate_half.
struct Rotary {
    at::Tensor angles_PD;  ///< fp32, on the operands' device: D/2 cosines, then D/2 sines
    std::int64_t heads = 1;
    bool inverse = false;  ///< rotates back, which is the backward

    Rotary inverted() const { return {angles_PD, heads, !inverse}; }
};

/// How attention is computed. The context and gradients of rows that belong to no sequence are zero.
struct Attention {
    const SequenceLayout& layout;  ///< with its tensors on the device of the operands; must outlive this
    std::int64_t heads;
    Dropout dropout;
    std::int64_t window = 0;  ///< tokens on each side of a token that it attends to, besides itself; 0: all of its sequence
    /// If its angles are defined, queries and keys were rotated by it at `positions_T`, and there are no biases:
    /// attention_backward() then rotates their gradients back. Must not be an inverse.
    Rotary rotary{};
    at::Tensor positions_T{};  ///< int64
    /// How attention_backward() may round its result to fp8, as in NormArguments.
    std::optional<Quantizer> quantizer{};

    bool is_rotated() const { return rotary.angles_PD.defined(); }

    /// The keys [first, end) that a token attends to, in a sequence of S tokens.
    std::pair<std::int64_t, std::int64_t> keys_of(std::int64_t query, std::int64_t S) const {
        if (window == 0) return {0, S};
        return {query > window ? query - window : 0, query + window < S ? query + window + 1 : S};
    }
};

struct AttentionResult {
    at::Tensor context_TH;      ///< compute dtype
    at::Tensor log_sum_exp_TN;  ///< fp32: log-sum-exp of each row of scores, for the backward
    at::Tensor biased_T3H{};    ///< compute dtype: qkv + bias; defined only if the forward had to write it, and then the
                                ///< backward reads it instead of qkv
    at::Tensor kept_NGT4{};     ///< int32: which probabilities dropout kept, as attention_inputs.h says; defined only if the
                                ///< backward reads it
};

struct AttentionGradient {
    at::Tensor qkv_T3H;    ///< compute dtype
    Fp8Operand qkv_fp8{};  ///< instead of qkv_T3H, from an implementation that rounds it (Attention::quantizer)
};

}  // namespace bertpretrain
