// Softmax cross entropy over the vocabulary. The gradient overwrites the logits.
#include <cmath>
#include <memory>

#include <ATen/ATen.h>

#include "kernels/cpu/row_chunks.h"
#include "kernels/implementations.h"

namespace bertpretrain::cpu {
namespace {

struct RowOutcome {
    double loss = 0;
    bool correct = false;
};

template <class W>
BERTPRETRAIN_INLINE RowOutcome cross_entropy_row(W* logits, const float* bias, std::int64_t V, std::int64_t label, float scale,
                                                 float* d_bias, float* scratch) {
    if (label < 0) {
        for (std::int64_t v = 0; v < V; ++v) store(logits + v, 0.0F);
        return {};
    }
    float largest = -3.4e38F;
#pragma omp simd reduction(max : largest)
    for (std::int64_t v = 0; v < V; ++v) {
        scratch[v] = load(logits + v) + bias[v];
        largest = scratch[v] > largest ? scratch[v] : largest;
    }
    const float label_logit = scratch[label];
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t v = 0; v < V; ++v) {
        scratch[v] = exponential(scratch[v] - largest);
        sum += scratch[v];
    }
    const float factor = scale / sum;
    const float label_d = scratch[label] * factor - scale;
#pragma omp simd
    for (std::int64_t v = 0; v < V; ++v) {
        const float d = scratch[v] * factor;
        d_bias[v] += d;
        store(logits + v, d);
    }
    d_bias[label] -= scale;
    store(logits + label, label_d);
    return {std::log(static_cast<double>(sum)) + largest - label_logit, label_logit == largest};
}

}  // namespace

void softmax_cross_entropy(at::Tensor& logits_MV, const at::Tensor& bias_V, const at::Tensor& labels_M, double scale,
                           const at::Tensor& d_bias_V, const at::Tensor& totals_2) {
    const std::int64_t M = logits_MV.size(0), V = logits_MV.size(1);
    ColumnSums bias_sums(M, V);
    std::vector<RowOutcome> outcomes(static_cast<std::size_t>(M));
    const auto* labels = labels_M.data_ptr<std::int64_t>();
    with_compute_dtype(logits_MV.scalar_type(), [&](auto w) {
        using W = decltype(w);
        for_row_chunks(M, [&](std::int64_t chunk, std::int64_t first, std::int64_t end) {
            const auto scratch = std::make_unique<float[]>(static_cast<std::size_t>(V));
            for (std::int64_t m = first; m < end; ++m)
                outcomes[static_cast<std::size_t>(m)] =
                    by_instruction_set<&cross_entropy_row<W>>(compute_data<W>(logits_MV) + m * V, fp32_data(bias_V), V, labels[m],
                                                              static_cast<float>(scale), bias_sums.chunk(chunk), scratch.get());
        });
    });
    bias_sums.add_to(fp32_data(d_bias_V));
    auto* totals = totals_2.data_ptr<double>();
    for (const RowOutcome& outcome : outcomes) {
        totals[0] += outcome.loss;
        totals[1] += outcome.correct ? 1.0 : 0.0;
    }
}

}  // namespace bertpretrain::cpu
