#pragma once
// The heads for masked language modelling (MLM), on masked positions only, and next sentence prediction (NSP), with the pooler
// before the second one.
//
// Axes: M masked positions, B sequences, R = B + M rows that the heads read, V vocabulary, H hidden size.

#include "batches/micro_batch.h"
#include "kernels/fused_operations.h"
#include "model/loss_sums.h"
#include "model/model.h"

namespace bertpretrain {

/// The heads' parameters, or their gradients. Matrices are (outputs, inputs).
struct HeadViews {
    at::Tensor decoder_VH;                        ///< often the word embedding
    at::Tensor pooler_weight, pooler_bias;        ///< undefined without next sentences, as the last two
    at::Tensor transform_weight, transform_bias;  ///< without a weight, no dense layer and no norm precede the decoder
    NormParameters transform_norm;
    at::Tensor decoder_bias_V;
    at::Tensor next_sentence_weight, next_sentence_bias;

    bool transforms() const { return transform_weight.defined(); }
    bool next_sentence() const { return pooler_weight.defined(); }
};

/// What the heads need besides their parameters.
struct HeadContext {
    const MicroBatch& batch;
    RowKeys rows;
    double eps = 0;  ///< of LayerNorm
    Activation activation = Activation::gelu_erf;
    /// The most logits over the vocabulary that exist at a time, in rows of V: 1 GiB in bf16. Losses need no more.
    std::int64_t logits_at_once = most_logits;
    static constexpr std::int64_t most_logits = std::int64_t{1} << 29;
};

/// @param read_RH the encoder's output at the rows that the heads read, compute dtype; in the functions below too
Logits heads_logits(const HeadContext& context, const HeadViews& weights, const at::Tensor& read_RH);

/// Returns tanh(pooler(x)) of the sequences' first rows, fp32, B x H. @param first_BH compute dtype
at::Tensor pool_first_rows(const HeadViews& weights, const at::Tensor& first_BH);

/// Adds the losses to `sums` and the heads' parameter gradients to `gradients`.
/// @returns the gradient of read_RH, fp32
at::Tensor heads_forward_backward(const HeadContext& context, const HeadViews& weights, const at::Tensor& read_RH,
                                  const LossScale& scale, const HeadViews& gradients, const LossSums& sums);

/// Adds the losses to `sums`. Computes no gradients.
void heads_losses(const HeadContext& context, const HeadViews& weights, const at::Tensor& read_RH, const LossSums& sums);

}  // namespace bertpretrain
