#include "model/heads.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>

#include "kernels/matmul.h"

namespace bertpretrain {
namespace {

/// The MLM head up to its decoder.
struct Transformed {
    at::Tensor rows_MH, dense_MH;
    NormResult norm;
};

Transformed transform(const HeadContext& context, const HeadViews& weights, const at::Tensor& rows_MH) {
    Transformed t;
    t.rows_MH = rows_MH;
    if (!weights.transforms()) {
        t.norm.normed_TH = rows_MH;
        return t;
    }
    t.dense_MH = linear_matmul(t.rows_MH, weights.transform_weight);
    const at::Tensor activated_MH = bias_activation(t.dense_MH, weights.transform_bias, context.activation);
    t.norm = dropout_residual_norm({.residual = activated_MH.to(at::kFloat),
                                    .norm = weights.transform_norm,
                                    .eps = context.eps,
                                    .rows = context.rows,
                                    .compute_dtype = rows_MH.scalar_type()});
    return t;
}

/// Adds the gradients of the transform's parameters. @returns the gradient of its input
at::Tensor transform_backward(const HeadContext& context, const HeadViews& weights, const Transformed& t,
                              const at::Tensor& d_normed_MH, const HeadViews& gradients) {
    if (!weights.transforms()) return d_normed_MH;
    const at::ScalarType compute_dtype = t.rows_MH.scalar_type();
    const NormGradients d_norm = dropout_residual_norm_backward({.d_normed_TH = d_normed_MH,
                                                                 .forward = t.norm,
                                                                 .norm = weights.transform_norm,
                                                                 .rows = context.rows,
                                                                 .compute_dtype = compute_dtype,
                                                                 .d_norm = gradients.transform_norm});
    const at::Tensor d_dense_MH = bias_activation_backward(d_norm.sum_TH.to(compute_dtype), t.dense_MH, weights.transform_bias,
                                                           context.activation, gradients.transform_bias);
    add_linear_weight_gradient(d_dense_MH, t.rows_MH, gradients.transform_weight);
    return linear_input_gradient(d_dense_MH, weights.transform_weight);
}

/// Rows [begin, begin + rows) of a head's logits, which belong to one source.
struct RowsOfSource {
    std::size_t source;
    std::int64_t begin, rows;
};

/// Divides `rows` rows by source: `count` of each part, and fillers at the end, which belong to the last part.
std::vector<RowsOfSource> rows_of_sources(const MicroBatch& batch, std::int64_t SourcePart::*count, std::int64_t rows) {
    if (batch.source_parts.empty()) return {{0, 0, rows}};
    std::vector<RowsOfSource> all;
    std::int64_t begin = 0;
    for (const SourcePart& part : batch.source_parts) {
        all.push_back({part.source, begin, part.*count});
        begin += part.*count;
    }
    all.back().rows += rows - begin;
    std::erase_if(all, [](const RowsOfSource& of) { return of.rows == 0; });
    return all;
}

/// Calls softmax_cross_entropy() once per source, so that each has sums of its own without another pass over the logits.
/// @param sums_2_of returns a source's sums
void cross_entropy_by_source(const std::vector<RowsOfSource>& sources, const at::Tensor& logits_RC, const at::Tensor& bias_C,
                             const at::Tensor& labels_R, double scale, const at::Tensor& d_bias_C, const auto& sums_2_of) {
    for (const auto& [source, begin, rows] : sources) {
        at::Tensor of_source = logits_RC.narrow(0, begin, rows);
        softmax_cross_entropy(of_source, bias_C, labels_R.narrow(0, begin, rows), scale, d_bias_C, sums_2_of(source));
    }
}

/// Returns the sources of rows [begin, begin + rows), counted from `begin`.
std::vector<RowsOfSource> part_of(const std::vector<RowsOfSource>& sources, std::int64_t begin, std::int64_t rows) {
    std::vector<RowsOfSource> part;
    for (const RowsOfSource& of : sources) {
        const std::int64_t first = std::max(of.begin, begin), end = std::min(of.begin + of.rows, begin + rows);
        if (first < end) part.push_back({of.source, first - begin, end - first});
    }
    return part;
}

/// Calls body(first row, rows, sources of these rows) for parts of M rows with a limited number of logits.
void for_parts(const HeadContext& context, std::int64_t M, std::int64_t V, const auto& body) {
    const std::vector<RowsOfSource> sources = rows_of_sources(context.batch, &SourcePart::masked, M);
    const std::int64_t most = std::max<std::int64_t>(1, context.logits_at_once / V);
    for (std::int64_t begin = 0; begin < M; begin += most) {
        const std::int64_t rows = std::min(most, M - begin);
        body(begin, rows, part_of(sources, begin, rows));
    }
}

/// Adds the loss of next sentences and the gradients of pooler and head.
/// @param d_first_BH overwritten with the gradient of first_BH
void next_sentences_forward_backward(const HeadContext& context, const HeadViews& weights, const at::Tensor& first_BH,
                                     double scale, const HeadViews& gradients, const LossSums& sums, at::Tensor d_first_BH) {
    const at::ScalarType compute_dtype = first_BH.scalar_type();
    const at::Tensor pooled_fp32_BH = pool_first_rows(weights, first_BH), pooled_BH = pooled_fp32_BH.to(compute_dtype);
    at::Tensor logits_B2 = linear_matmul(pooled_BH, weights.next_sentence_weight);
    cross_entropy_by_source(rows_of_sources(context.batch, &SourcePart::sequences, logits_B2.size(0)), logits_B2,
                            weights.next_sentence_bias, context.batch.next_sentence_labels_B, scale, gradients.next_sentence_bias,
                            [&](std::size_t source) { return sums.nsp_2(source); });
    add_linear_weight_gradient(logits_B2, pooled_BH, gradients.next_sentence_weight);
    const at::Tensor d_pooled_BH = linear_input_gradient(logits_B2, weights.next_sentence_weight).to(at::kFloat);
    const at::Tensor d_pool_fp32_BH = d_pooled_BH * (1 - pooled_fp32_BH.square());
    at::Tensor d_pooler_bias = gradients.pooler_bias;
    d_pooler_bias.add_(d_pool_fp32_BH.sum(0));
    const at::Tensor d_pool_BH = d_pool_fp32_BH.to(compute_dtype);
    add_linear_weight_gradient(d_pool_BH, first_BH, gradients.pooler_weight);
    d_first_BH.copy_(linear_input_gradient(d_pool_BH, weights.pooler_weight));
}

/// The inputs of each head among the R rows.
struct HeadRows {
    at::Tensor first_BH, masked_MH;
    HeadRows(const HeadContext& context, const at::Tensor& x_RH)
        : first_BH(x_RH.narrow(0, 0, context.batch.sequences())),
          masked_MH(x_RH.narrow(0, context.batch.sequences(), context.batch.masked_rows_M.numel())) {}
};

at::Tensor next_sentence_logits(const HeadViews& weights, const at::Tensor& first_BH) {
    const at::Tensor pooled_BH = pool_first_rows(weights, first_BH);
    return linear_matmul(pooled_BH.to(first_BH.scalar_type()), weights.next_sentence_weight).to(at::kFloat) +
           weights.next_sentence_bias;
}

}  // namespace

at::Tensor pool_first_rows(const HeadViews& weights, const at::Tensor& first_BH) {
    return (linear_matmul(first_BH, weights.pooler_weight).to(at::kFloat) + weights.pooler_bias).tanh();
}

Logits heads_logits(const HeadContext& context, const HeadViews& weights, const at::Tensor& read_RH) {
    const HeadRows read(context, read_RH);
    const Transformed t = transform(context, weights, read.masked_MH);
    return {linear_matmul(t.norm.normed_TH, weights.decoder_VH).to(at::kFloat) + weights.decoder_bias_V,
            weights.next_sentence() ? next_sentence_logits(weights, read.first_BH) : at::Tensor()};
}

void heads_losses(const HeadContext& context, const HeadViews& weights, const at::Tensor& read_RH, const LossSums& sums) {
    const HeadRows read(context, read_RH);
    const auto add_losses = [](const at::Tensor& logits_RC, const at::Tensor& labels_R, const std::vector<RowsOfSource>& sources,
                               const auto& sums_2_of) {
        const at::Tensor no_bias_C = at::zeros({logits_RC.size(1)}, logits_RC.options());
        cross_entropy_by_source(sources, logits_RC, no_bias_C, labels_R, 0, no_bias_C.clone(), sums_2_of);
    };
    if (context.batch.masked() > 0) {
        const Transformed t = transform(context, weights, read.masked_MH);
        for_parts(context, t.rows_MH.size(0), weights.decoder_VH.size(0),
                  [&](std::int64_t begin, std::int64_t rows, const std::vector<RowsOfSource>& sources) {
                      const at::Tensor logits_MV =
                          linear_matmul(t.norm.normed_TH.narrow(0, begin, rows), weights.decoder_VH).to(at::kFloat) +
                          weights.decoder_bias_V;
                      add_losses(logits_MV, context.batch.masked_labels_M.narrow(0, begin, rows), sources,
                                 [&](std::size_t source) { return sums.mlm_2(source); });
                  });
    }
    if (weights.next_sentence())
        add_losses(next_sentence_logits(weights, read.first_BH), context.batch.next_sentence_labels_B,
                   rows_of_sources(context.batch, &SourcePart::sequences, context.batch.sequences()),
                   [&](std::size_t source) { return sums.nsp_2(source); });
}

at::Tensor heads_forward_backward(const HeadContext& context, const HeadViews& weights, const at::Tensor& read_RH,
                                  const LossScale& scale, const HeadViews& gradients, const LossSums& sums) {
    const at::Tensor d_read_RH = at::empty_like(read_RH);
    const HeadRows read(context, read_RH), d_read(context, d_read_RH);

    if (context.batch.masked() > 0) {
        const Transformed t = transform(context, weights, read.masked_MH);
        std::vector<at::Tensor> d_normed_parts;
        for_parts(context, t.rows_MH.size(0), weights.decoder_VH.size(0),
                  [&](std::int64_t begin, std::int64_t rows, const std::vector<RowsOfSource>& sources) {
                      const at::Tensor normed_MH = t.norm.normed_TH.narrow(0, begin, rows);
                      const at::Tensor logits_MV = linear_matmul(normed_MH, weights.decoder_VH);
                      cross_entropy_by_source(sources, logits_MV, weights.decoder_bias_V,
                                              context.batch.masked_labels_M.narrow(0, begin, rows), scale.mlm,
                                              gradients.decoder_bias_V, [&](std::size_t source) { return sums.mlm_2(source); });
                      add_linear_weight_gradient(logits_MV, normed_MH, gradients.decoder_VH);
                      d_normed_parts.push_back(linear_input_gradient(logits_MV, weights.decoder_VH));
                  });
        const at::Tensor d_normed_MH = d_normed_parts.size() == 1 ? d_normed_parts.front() : at::cat(d_normed_parts);
        d_read.masked_MH.copy_(transform_backward(context, weights, t, d_normed_MH, gradients));
    }

    if (weights.next_sentence())
        next_sentences_forward_backward(context, weights, read.first_BH, scale.nsp, gradients, sums, d_read.first_BH);
    else d_read.first_BH.zero_();
    return d_read_RH;
}

}  // namespace bertpretrain
