#include <memory>

#include <ATen/ATen.h>

#include "kernels/fused_operations.h"
#include "kernels/interface/optimizer_kernels.h"
#include "kernels/kernels_in_use.h"
#include "step_parts.h"

namespace bertpretrain::benchmark {
namespace {

/// The optimizer's update of all parameters of the encoder.
struct Update {
    std::int64_t elements;
    OptimizerState state;
    at::Tensor gradient, compute_weights;
    BlockedRuns blocks;
    std::vector<TensorFactors> factors{{1.0, 0.01, 1e-4, 0}};

    Update(std::int64_t count, const at::TensorOptions& fp32)
        : elements(count),
          state{at::randn({count}, fp32), at::zeros({count}, fp32), at::zeros({count}, fp32)},
          gradient(at::randn({count}, fp32)),
          compute_weights(at::zeros({count}, fp32.dtype(at::kBFloat16))),
          blocks({{0, 0, 0, count}}) {}
    void sum_squares() const {
        std::vector<double> sums(blocks.parts.size());
        optimizer_kernels_for(gradient.device()).sum_squares(gradient, blocks, sums);
    }
    void adamw() const {
        optimizer_kernels_for(gradient.device())
            .adamw({state, gradient, compute_weights, blocks, {0.9, 0.999, 1e-6, 0.1, 0.001}, factors});
    }
};

/// The operands of the loss and of the embeddings' gradient.
struct Ends {
    at::Tensor ids_T, d_sum_TH, d_word_VH, bias_V, d_bias_V, labels_M, totals_2;
    std::vector<at::Tensor> logits_MV;  ///< by set of operands

    explicit Ends(const StepShape& s) {
        const at::TensorOptions fp32(s.device), ids(fp32.dtype(at::kLong));
        const std::int64_t T = s.sequences * s.length, H = s.hidden, M = s.sequences * s.masked, V = s.vocabulary;
        ids_T = at::randint(V, {T}, ids), labels_M = at::randint(V, {M}, ids);
        d_sum_TH = at::randn({T, H}, fp32), d_word_VH = at::zeros({V, H}, fp32);
        bias_V = at::zeros({V}, fp32), d_bias_V = at::zeros({V}, fp32), totals_2 = at::zeros({2}, fp32.dtype(at::kDouble));
        for (std::size_t i = 0; i < operand_sets; ++i) logits_MV.push_back(at::randn({M, V}, fp32).to(at::kBFloat16));
    }
};

}  // namespace

std::vector<Part> shared_parts(const StepShape& s) {
    const std::int64_t H = s.hidden, of_layers = s.layers * (4 * H * H + (s.is_modern() ? 3 : 2) * H * s.intermediate);
    const std::int64_t others = (s.vocabulary + (s.is_modern() ? 0 : 512)) * H, parameters = of_layers + others;
    const auto update = std::make_shared<Update>(parameters, at::TensorOptions(s.device));
    const auto P = static_cast<double>(parameters);
    const auto ends = std::make_shared<Ends>(s);
    const auto TH = static_cast<double>(ends->d_sum_TH.numel()), MV = static_cast<double>(ends->logits_MV.front().numel());
    return {
        {"embedding scatter", 1, 0, 12 * TH,
         [ends](std::size_t) { embedding_backward(ends->d_sum_TH, ends->ids_T, ends->d_word_VH); }, "embeddings"},
        {"softmax + cross entropy", 1, 0, 6 * MV,
         [ends](std::size_t i) {
             softmax_cross_entropy(ends->logits_MV[i], ends->bias_V, ends->labels_M, 1e-3, ends->d_bias_V, ends->totals_2);
         },
         "loss"},
        {"zeroing of gradients outside the layers", 1, 0, 4 * static_cast<double>(others),
         [update, others](std::size_t) { update->gradient.narrow(0, 0, others).zero_(); }, "update"},
        {"gradient norm", 1, 0, 4 * P, [update](std::size_t) { update->sum_squares(); }, "update"},
        {"AdamW", 1, 0, (4 + 3 * 8 + 2) * P, [update](std::size_t) { update->adamw(); }, "update"},
        {"copy (reference for the update)", 0, 0, 8 * P,
         [update](std::size_t) { update->state.exp_avg.copy_(update->state.master); }, "update"},
    };
}

std::vector<Part> warpgroup_parts(const StepShape& shape, double forward_flops, const AttentionOf& forward, const AttentionOf& backward) {
    constexpr std::int64_t longest_of_others = 128;
    if (shape.length <= longest_of_others) return {};
    for (const KernelSet& set : available_kernels(shape.device, {kernels_of_warpgroups})) {
        if (set.name != kernels_of_warpgroups) continue;
        try {
            forward(set.functions, 0);
        } catch (const std::runtime_error&) {
            return {};  // another GPU
        }
        const FunctionTable& table = set.functions;
        return {{"attention of all keys by warpgroups, forward", 0, forward_flops, 0,
                 [table, forward](std::size_t i) { forward(table, i); }, "attention"},
                {"attention of all keys by warpgroups, backward", 0, 2.5 * forward_flops, 0,
                 [table, backward](std::size_t i) { backward(table, i); }, "attention"}};
    }
    return {};
}

}  // namespace bertpretrain::benchmark
