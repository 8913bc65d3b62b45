#pragma once
// Masked language modelling (MLM) on masked positions only, and next sentence prediction (NSP).
//
// Axes: M masked positions, B sequences, R = B + M rows that the heads read (ReadRows), V vocabulary, H hidden size.

#include "model/encoder_layer.h"

namespace bertpretrain {

/// What each loss sum is multiplied with before it is differentiated.
struct LossScale {
    double mlm = 0;  ///< 1 / masked positions of the global batch, for the mean over them
    double nsp = 0;  ///< 1 / sequences of the global batch
};

/// Sums over batches, float64 on the model's device: {MLM loss, correct MLM, NSP loss, correct NSP}.
at::Tensor new_totals(at::Device device);

/// Logits with their biases, fp32. Below, read_RH is the encoder's output at ReadRows, compute_dtype.
struct Logits {
    at::Tensor mlm_MV, next_sentence_B2;
};
Logits heads_logits(const LayerContext& context, const BertViews& weights, const at::Tensor& read_RH);

/// tanh(pooler's product + bias) of the sequences' first rows, compute_dtype: fp32, B x H.
at::Tensor pool_first_rows(const BertViews& weights, const at::Tensor& first_BH);

/// Adds the losses to totals_4 and the heads' parameter gradients to `gradients`.
/// @returns the gradient of read_RH, exact
at::Tensor heads_forward_backward(const LayerContext& context, const BertViews& weights, const at::Tensor& read_RH,
                                  const LossScale& scale, const BertViews& gradients, const at::Tensor& totals_4);

/// Adds the losses to totals_4, and nothing else.
void heads_losses(const LayerContext& context, const BertViews& weights, const at::Tensor& read_RH, const at::Tensor& totals_4);

}  // namespace bertpretrain
