// Dispatches to the kernels that this process uses on the tensors' device (kernel_set.h).
#include "kernels/fused_operations.h"

#include "kernels/kernel_set.h"

namespace bertpretrain {

const FunctionTable& functions_for(at::Device device) { return kernels_for(device).functions; }

const OptimizerKernels& optimizer_kernels_for(at::Device device) { return *kernels_for(device).optimizer; }

NormResult dropout_residual_norm(const NormArguments& arguments) {
    return functions_for(arguments.norm.weight_H.device()).dropout_residual_norm(arguments);
}

NormGradients dropout_residual_norm_backward(const NormBackwardArguments& arguments) {
    return functions_for(arguments.norm.weight_H.device()).dropout_residual_norm_backward(arguments);
}

at::Tensor dropout_rows(const at::Tensor& x_TH, const Dropout& dropout, const RowKeys& rows) {
    return functions_for(x_TH.device()).dropout_rows(x_TH, dropout, rows);
}

at::Tensor bias_activation(const at::Tensor& x_TF, const at::Tensor& bias_F, Activation activation) {
    return functions_for(x_TF.device()).bias_activation(x_TF, bias_F, activation);
}

at::Tensor bias_activation_backward(const at::Tensor& dy_TF, const at::Tensor& x_TF, const at::Tensor& bias_F,
                                    Activation activation, const at::Tensor& d_bias_F) {
    return functions_for(x_TF.device()).bias_activation_backward(dy_TF, x_TF, bias_F, activation, d_bias_F);
}

AttentionResult attention(const at::Tensor& qkv_T3H, const at::Tensor& bias_3H, const Attention& shape) {
    return functions_for(qkv_T3H.device()).attention(qkv_T3H, bias_3H, shape);
}

at::Tensor attention_backward(const at::Tensor& d_context_TH, const at::Tensor& qkv_T3H, const at::Tensor& bias_3H,
                              const AttentionResult& forward, const Attention& shape, const at::Tensor& d_bias_3H) {
    return functions_for(qkv_T3H.device()).attention_backward(d_context_TH, qkv_T3H, bias_3H, forward, shape, d_bias_3H);
}

at::Tensor embedding_sum(const at::Tensor& ids_T, const at::Tensor& positions_T, const at::Tensor& types_T,
                         const at::Tensor& word_VH, const at::Tensor& position_PH, const at::Tensor& type_KH) {
    return functions_for(ids_T.device()).embedding_sum(ids_T, positions_T, types_T, word_VH, position_PH, type_KH);
}

void embedding_backward(const at::Tensor& d_sum_TH, const at::Tensor& indices_T, const at::Tensor& d_table_VH) {
    functions_for(d_sum_TH.device()).embedding_backward(d_sum_TH, indices_T, d_table_VH);
}

void softmax_cross_entropy(at::Tensor& logits_MV, const at::Tensor& bias_V, const at::Tensor& labels_M, double scale,
                           const at::Tensor& d_bias_V, const at::Tensor& totals_2) {
    functions_for(logits_MV.device()).softmax_cross_entropy(logits_MV, bias_V, labels_M, scale, d_bias_V, totals_2);
}

}  // namespace bertpretrain
