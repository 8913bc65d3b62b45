// The module's kernels on a GPU against the reference on the same GPU. tests/kernels_cuda tests their logic at every size.
#include "gpu/gpu.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

struct OnDevice {
    at::Device device;
    RandomTensors random{17};
    at::Tensor normal(at::IntArrayRef sizes, at::ScalarType type = at::kFloat) { return random.normal(sizes, type).to(device); }
    at::Tensor below(std::int64_t bound, std::int64_t count) { return random.below(bound, count).to(device); }
    RowKeys keys(const Ragged& batch) const { return {batch.rows.sample_T.to(device), batch.rows.position_T.to(device)}; }
};

/// Calls body(device's tensors, compute dtype) if there is a GPU.
template <class Body>
void on_gpu(const Body& body) {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    REQUIRE(cuda_module() != nullptr);
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16}) {
        CAPTURE(compute_dtype);
        OnDevice tensors{*device};
        body(tensors, compute_dtype);
    }
}

}  // namespace

TEST_CASE("on a GPU dropout + residual + LayerNorm equals the reference", "[gpu]") {
    on_gpu([](OnDevice& on, at::ScalarType compute_dtype) {
        const Ragged batch = ragged({128, 77, 1, 300});
        const RowKeys rows = on.keys(batch);
        const Dropout dropout = dropout_of(0.1);
        for (const std::int64_t H : {101, 768, 1024, 1600, 2560}) {
            CAPTURE(H);
            const std::int64_t T = batch.tokens();
            const at::Tensor out = on.normal({T, H}, compute_dtype), bias = on.normal({H}), residual = on.normal({T, H});
            const NormParameters norm{on.normal({H}) + 1, on.normal({H})};
            const at::Tensor d_normed = on.normal({T, H}, compute_dtype), d_fp32 = on.normal({T, H}), d_sum = on.normal({T, H});
            const NormResult right =
                reference::dropout_residual_norm({out, bias, residual, norm, 1e-12, dropout, rows, compute_dtype, true});
            const NormResult ours = dropout_residual_norm({out, bias, residual, norm, 1e-12, dropout, rows, compute_dtype, true});
            CHECK_ROUNDED(ours.sum_TH, right.sum_TH);
            CHECK_ROUNDED(ours.normed_TH, right.normed_TH);
            CHECK_ROUNDED(ours.normed_fp32_TH, right.normed_fp32_TH);
            const NormParameters d_right{at::ones_like(bias), at::ones_like(bias)},
                d_ours{at::ones_like(bias), at::ones_like(bias)};
            const at::Tensor d_bias_right = at::ones_like(bias), d_bias_ours = at::ones_like(bias);
            const NormGradients g_right = reference::dropout_residual_norm_backward(
                {d_normed, d_fp32, d_sum, right, norm, dropout, rows, compute_dtype, d_right, d_bias_right});
            const NormGradients g_ours = dropout_residual_norm_backward(
                {d_normed, d_fp32, d_sum, right, norm, dropout, rows, compute_dtype, d_ours, d_bias_ours});
            CHECK_ROUNDED(g_ours.sum_TH, g_right.sum_TH);
            CHECK_ROUNDED(g_ours.out_TH, g_right.out_TH);
            CHECK_ROUNDED(d_ours.weight_H, d_right.weight_H);
            CHECK_ROUNDED(d_ours.bias_H, d_right.bias_H);
            CHECK_ROUNDED(d_bias_ours, d_bias_right);
            CHECK(same_bits(dropout_rows(residual, dropout, rows), reference::dropout_rows(residual, dropout, rows)));
        }
    });
}

TEST_CASE("on a GPU bias + GELU equals the reference", "[gpu]") {
    on_gpu([](OnDevice& on, at::ScalarType compute_dtype) {
        for (const Activation activation : {Activation::gelu_erf, Activation::gelu_tanh})
            for (const std::int64_t F : {101, 3072, 4096}) {
                CAPTURE(F);
                const at::Tensor x = on.normal({500, F}, compute_dtype), dy = on.normal({500, F}, compute_dtype),
                                 bias = on.normal({F});
                const at::Tensor d_ours = at::ones_like(bias), d_right = at::ones_like(bias);
                CHECK_ROUNDED(bias_activation(x, bias, activation), reference::bias_activation(x, bias, activation));
                const at::Tensor dx_ours = bias_activation_backward(dy, x, bias, activation, d_ours);
                const at::Tensor dx_right = reference::bias_activation_backward(dy, x, bias, activation, d_right);
                CHECK_ROUNDED(dx_ours, dx_right);
                CHECK_ROUNDED(d_ours, d_right);
            }
    });
}

TEST_CASE("on a GPU sums of embeddings and their gradients equal the reference", "[gpu]") {
    on_gpu([](OnDevice& on, at::ScalarType compute_dtype) {
        const std::int64_t T = 3000, H = 1024;
        const at::Tensor word = on.normal({30528, H}, compute_dtype), position = on.normal({512, H}, compute_dtype);
        const at::Tensor type = on.normal({2, H}, compute_dtype), d_sum = on.normal({T, H});
        const at::Tensor ids = on.below(30528, T), positions = on.below(512, T), types = on.below(2, T);
        CHECK(same_bits(embedding_sum(ids, positions, types, word, position, type),
                        reference::embedding_sum(ids, positions, types, word, position, type)));
        for (const auto& [indices, rows] : {std::pair(ids, 30528), std::pair(positions, 512), std::pair(types, 2)}) {
            const at::Tensor ours = at::zeros({rows, H}, d_sum.options()), right = at::zeros_like(ours),
                             again = at::zeros_like(ours);
            embedding_backward(d_sum, indices, ours);
            embedding_backward(d_sum, indices, again);
            reference::embedding_backward(d_sum, indices, right);
            CHECK_ROUNDED(ours, right);
            CHECK(same_bits(ours, again));
        }
    });
}

TEST_CASE("on a GPU softmax cross entropy equals the reference", "[gpu]") {
    on_gpu([](OnDevice& on, at::ScalarType compute_dtype) {
        for (const std::int64_t V : {101, 30528}) {
            const at::Tensor logits = on.normal({330, V}, compute_dtype), bias = on.normal({V});
            const at::Tensor labels = on.below(V, 330) - 3 * on.below(2, 330).mul(V);  // about half of them are absent
            at::Tensor ours = logits.clone(), right = logits.clone();
            const at::Tensor d_ours = at::ones_like(bias), d_right = at::ones_like(bias);
            const at::Tensor totals_ours = at::zeros({2}, bias.options().dtype(at::kDouble)),
                             totals_right = at::zeros_like(totals_ours);
            softmax_cross_entropy(ours, bias, labels.clamp_min(-1), 0.01, d_ours, totals_ours);
            reference::softmax_cross_entropy(right, bias, labels.clamp_min(-1), 0.01, d_right, totals_right);
            CHECK_ROUNDED(ours, right);
            CHECK_ROUNDED(d_ours, d_right);
            CHECK(relative_error(totals_ours, totals_right) < 1e-6);
        }
    });
}
