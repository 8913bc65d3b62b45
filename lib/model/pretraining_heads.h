#pragma once
// The heads for masked language modelling (MLM), on masked positions only, and next sentence prediction (NSP).
//
// Axes: M masked positions, B sequences, R = B + M rows that the heads read (ReadRows), V vocabulary, H hidden size.

#include "model/encoder_layer.h"

namespace bertpretrain {

/// Factors of the loss sums before differentiation.
struct LossScale {
    double mlm = 0;  ///< 1 / masked positions of the global batch, for the mean over them
    double nsp = 0;  ///< 1 / sequences of the global batch
};

/// Returns zeros for sums over batches: {MLM loss, correct MLM, NSP loss, correct NSP}, float64 on the model's device.
at::Tensor new_totals(at::Device device);

/// fp32 logits, with biases. In the functions below, read_RH is the encoder's output at ReadRows in the compute dtype.
struct Logits {
    at::Tensor mlm_MV, next_sentence_B2;
};
Logits heads_logits(const LayerContext& context, const BertViews& weights, const at::Tensor& read_RH);

/// Returns tanh(pooler(x)) of the sequences' first rows, fp32, B x H. @param first_BH compute dtype
at::Tensor pool_first_rows(const BertViews& weights, const at::Tensor& first_BH);

/// Adds the losses to totals_4 and the heads' parameter gradients to `gradients`.
/// @returns the gradient of read_RH, fp32
at::Tensor heads_forward_backward(const LayerContext& context, const BertViews& weights, const at::Tensor& read_RH,
                                  const LossScale& scale, const BertViews& gradients, const at::Tensor& totals_4);

/// Adds the losses to totals_4. Computes no gradients.
void heads_losses(const LayerContext& context, const BertViews& weights, const at::Tensor& read_RH, const at::Tensor& totals_4);

}  // namespace bertpretrain
