#pragma once
// The heads for masked language modelling (MLM), on masked positions only, and next sentence prediction (NSP). The second head
// and the pooler before it exist only if BertConfig::next_sentence is set.
//
// Axes: M masked positions, B sequences, R = B + M rows that the heads read (ReadRows), V vocabulary, H hidden size.

#include "model/encoder_layer.h"
#include "model/loss_sums.h"

namespace bertpretrain {

/// Factors of the loss sums before differentiation.
struct LossScale {
    double mlm = 0;  ///< 1 / masked positions of the global batch, for the mean over them
    double nsp = 0;  ///< 1 / sequences of the global batch
};

/// fp32 logits, with biases; next_sentence_B2 is undefined in a model without that head. In the functions below, read_RH is the
/// encoder's output at ReadRows in the compute dtype.
struct Logits {
    at::Tensor mlm_MV, next_sentence_B2;
};
Logits heads_logits(const LayerContext& context, const BertViews& weights, const at::Tensor& read_RH);

/// Returns tanh(pooler(x)) of the sequences' first rows, fp32, B x H. @param first_BH compute dtype
at::Tensor pool_first_rows(const BertViews& weights, const at::Tensor& first_BH);

/// Adds the losses to `sums` and the heads' parameter gradients to `gradients`.
/// @returns the gradient of read_RH, fp32
at::Tensor heads_forward_backward(const LayerContext& context, const BertViews& weights, const at::Tensor& read_RH,
                                  const LossScale& scale, const BertViews& gradients, const LossSums& sums);

/// Adds the losses to `sums`. Computes no gradients.
void heads_losses(const LayerContext& context, const BertViews& weights, const at::Tensor& read_RH, const LossSums& sums);

}  // namespace bertpretrain
