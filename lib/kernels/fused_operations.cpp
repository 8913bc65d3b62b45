// Chooses the implementation by where the tensors are, and by BERTPRETRAIN_CPU_CAPABILITY.
#include "kernels/fused_operations.h"

#include "kernels/cpu/instruction_set.h"
#include "kernels/implementations.h"

namespace bertpretrain {
namespace {

/// Whether what lies where `tensor` does is for cpu/.
bool vectorized(const at::Tensor& tensor) { return tensor.is_cpu() && cpu::instruction_set() != cpu::InstructionSet::reference; }

}  // namespace

NormResult dropout_residual_norm(const at::Tensor& out_TH, const at::Tensor& bias_H, const at::Tensor& residual_TH,
                                 const NormParameters& norm, double eps, const Dropout& dropout, const RowKeys& rows,
                                 at::ScalarType working, bool keep_exact) {
    auto* chosen = vectorized(norm.weight_H) ? cpu::dropout_residual_norm : reference::dropout_residual_norm;
    return chosen(out_TH, bias_H, residual_TH, norm, eps, dropout, rows, working, keep_exact);
}

NormGradients dropout_residual_norm_backward(const at::Tensor& d_normed_TH, const at::Tensor& d_normed_exact_TH,
                                             const at::Tensor& d_sum_TH, const NormResult& forward, const NormParameters& norm,
                                             const Dropout& dropout, const RowKeys& rows, at::ScalarType working,
                                             const NormParameters& d_norm, const at::Tensor& d_bias_H) {
    auto* chosen = vectorized(norm.weight_H) ? cpu::dropout_residual_norm_backward : reference::dropout_residual_norm_backward;
    return chosen(d_normed_TH, d_normed_exact_TH, d_sum_TH, forward, norm, dropout, rows, working, d_norm, d_bias_H);
}

at::Tensor dropout_rows(const at::Tensor& x_TH, const Dropout& dropout, const RowKeys& rows) {
    return (vectorized(x_TH) ? cpu::dropout_rows : reference::dropout_rows)(x_TH, dropout, rows);
}

at::Tensor bias_activation(const at::Tensor& x_TF, const at::Tensor& bias_F, Activation activation) {
    return (vectorized(x_TF) ? cpu::bias_activation : reference::bias_activation)(x_TF, bias_F, activation);
}

at::Tensor bias_activation_backward(const at::Tensor& dy_TF, const at::Tensor& x_TF, const at::Tensor& bias_F,
                                    Activation activation, const at::Tensor& d_bias_F) {
    auto* chosen = vectorized(x_TF) ? cpu::bias_activation_backward : reference::bias_activation_backward;
    return chosen(dy_TF, x_TF, bias_F, activation, d_bias_F);
}

AttentionResult attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    return (vectorized(qkv_T3H) ? cpu::attention : reference::attention)(qkv_T3H, bias_3H, shape);
}

at::Tensor attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                              const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H) {
    auto* chosen = vectorized(qkv_T3H) ? cpu::attention_backward : reference::attention_backward;
    return chosen(d_context_TH, qkv_T3H, bias_3H, forward, shape, d_bias_3H);
}

at::Tensor embedding_sum(const at::Tensor& ids_T, const at::Tensor& positions_T, const at::Tensor& types_T,
                         const at::Tensor& word_VH, const at::Tensor& position_PH, const at::Tensor& type_KH) {
    auto* chosen = vectorized(ids_T) ? cpu::embedding_sum : reference::embedding_sum;
    return chosen(ids_T, positions_T, types_T, word_VH, position_PH, type_KH);
}

void embedding_backward(const at::Tensor& d_sum_TH, const at::Tensor& indices_T, const at::Tensor& d_table_VH) {
    (vectorized(d_sum_TH) ? cpu::embedding_backward : reference::embedding_backward)(d_sum_TH, indices_T, d_table_VH);
}

void softmax_cross_entropy(at::Tensor& logits_MV, const at::Tensor& bias_V, const at::Tensor& labels_M, double scale,
                           const at::Tensor& d_bias_V, const at::Tensor& totals_2) {
    auto* chosen = vectorized(logits_MV) ? cpu::softmax_cross_entropy : reference::softmax_cross_entropy;
    chosen(logits_MV, bias_V, labels_M, scale, d_bias_V, totals_2);
}

}  // namespace bertpretrain
