// The operations that only ModernBERT and NeoBERT have, and the null biases, against the reference on the same GPU.
#include "gpu/gpu.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr at::ScalarType compute_dtypes[] = {at::kFloat, at::kBFloat16};

}  // namespace

TEST_CASE("on a GPU a gated activation equals the reference", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    RandomTensors random(5);
    for (const at::ScalarType compute_dtype : compute_dtypes)
        for (const Activation activation : {Activation::gelu_erf, Activation::gelu_tanh, Activation::silu})
            for (const std::int64_t F : {101, 1152, 2624}) {
                CAPTURE(compute_dtype, static_cast<int>(activation), F);
                const at::Tensor x = random.normal({500, 2 * F}, compute_dtype).to(*device),
                                 dy = random.normal({500, F}, compute_dtype).to(*device);
                CHECK_ROUNDED(gated_activation(x, activation), reference::gated_activation(x, activation));
                CHECK_ROUNDED(gated_activation_backward(dy, x, activation),
                              reference::gated_activation_backward(dy, x, activation));
            }
}

TEST_CASE("on a GPU queries and keys are rotated as by the reference, also back", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    RandomTensors random(6);
    const std::int64_t T = 700, N = 12, P = 8192;
    for (const at::ScalarType compute_dtype : compute_dtypes)
        for (const std::int64_t D : {10, 64, 128})
            for (const bool inverse : {false, true}) {
                CAPTURE(compute_dtype, D, inverse);
                const at::Tensor qkv = random.normal({T, 3 * N * D}, compute_dtype).to(*device),
                                 positions = random.below(P, T).to(*device), angles = random.normal({P, D}).to(*device);
                at::Tensor ours = qkv.clone(), right = qkv.clone();
                rotate(ours, positions, {angles, N, inverse});
                reference::rotate(right, positions, {angles, N, inverse});
                CHECK_ROUNDED(ours, right);
                CHECK(same_bits(ours.narrow(1, 2 * N * D, N * D), qkv.narrow(1, 2 * N * D, N * D)));
            }
}

TEST_CASE("on a GPU LayerNorm without biases and RMSNorm equal the reference, with a residual in fp32 and in bf16", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    RandomTensors random(7);
    const Ragged batch = ragged({128, 77, 1, 300});
    const RowKeys rows{batch.rows.sample_T.to(*device), batch.rows.position_T.to(*device)};
    const std::int64_t T = batch.tokens();
    for (const auto& [compute_dtype, residual_dtype] :
         {std::pair{at::kFloat, at::kFloat}, {at::kBFloat16, at::kFloat}, {at::kBFloat16, at::kBFloat16}})
        for (const NormKind kind : {NormKind::layer, NormKind::rms})
            for (const double probability : {0.0, 0.1})
                for (const std::int64_t H : {101, 384, 768, 1024}) {
                    CAPTURE(compute_dtype, residual_dtype, static_cast<int>(kind), probability, H);
                    const auto normal = [&](at::ScalarType type) { return random.normal({T, H}, type).to(*device); };
                    const at::Tensor out = normal(compute_dtype), residual = normal(residual_dtype),
                                     d_normed = normal(compute_dtype), d_sum = normal(residual_dtype),
                                     weight = (random.normal({H}) + 1).to(*device);
                    const NormArguments arguments{.out_TH = out,
                                                  .residual = residual,
                                                  .norm = {weight, {}, kind},
                                                  .eps = 1e-5,
                                                  .dropout = dropout_of(probability),
                                                  .rows = rows,
                                                  .compute_dtype = compute_dtype,
                                                  .sum_dtype = residual_dtype};
                    const NormResult ours = dropout_residual_norm(arguments), right = reference::dropout_residual_norm(arguments);
                    CHECK_ROUNDED(ours.sum_TH, right.sum_TH);
                    CHECK_ROUNDED(ours.normed_TH, right.normed_TH);
                    const auto gradients = [&](auto backward, const NormParameters& d_norm) {
                        return backward({.d_normed_TH = d_normed,
                                         .d_sum_TH = d_sum,
                                         .forward = right,
                                         .norm = arguments.norm,
                                         .dropout = arguments.dropout,
                                         .rows = rows,
                                         .compute_dtype = compute_dtype,
                                         .d_norm = d_norm});
                    };
                    const NormParameters d_ours{at::ones_like(weight), {}, kind}, d_right{at::ones_like(weight), {}, kind};
                    const NormGradients g_ours = gradients(dropout_residual_norm_backward, d_ours),
                                        g_right = gradients(reference::dropout_residual_norm_backward, d_right);
                    CHECK_ROUNDED(g_ours.sum_TH, g_right.sum_TH);
                    CHECK_ROUNDED(g_ours.out_TH, g_right.out_TH);
                    CHECK_ROUNDED(d_ours.weight_H, d_right.weight_H);
                }
}

TEST_CASE("on a GPU rows of word embeddings alone, and activations without a bias, equal the reference", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    RandomTensors random(8);
    for (const at::ScalarType compute_dtype : compute_dtypes) {
        CAPTURE(compute_dtype);
        const at::Tensor word = random.normal({50368, 768}, compute_dtype).to(*device),
                         ids = random.below(50368, 3000).to(*device);
        CHECK(same_bits(embedding_sum(ids, ids, ids, word, {}, {}), reference::embedding_sum(ids, ids, ids, word, {}, {})));
        const at::Tensor x = random.normal({500, 768}, compute_dtype).to(*device),
                         dy = random.normal({500, 768}, compute_dtype).to(*device);
        for (const Activation activation : {Activation::gelu_erf, Activation::silu}) {
            CHECK_ROUNDED(bias_activation(x, {}, activation), reference::bias_activation(x, {}, activation));
            CHECK_ROUNDED(bias_activation_backward(dy, x, {}, activation, {}),
                          reference::bias_activation_backward(dy, x, {}, activation, {}));
        }
    }
}

TEST_CASE("on a GPU attention of rotated queries and keys equals the reference, at lengths and windows of published models",
          "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    RandomTensors random(9);
    const std::int64_t N = 4, D = 64, H = N * D, padding_rows = 5;
    const std::vector<std::int64_t> packed{1024, 700, 1, 64, 65, 129, 40}, single{2500};
    for (const auto& lengths : {packed, single})
        for (const std::int64_t window : {0, 1, 64, 128})
            for (const double probability : {0.0, 0.1}) {
                CAPTURE(lengths, window, probability);
                const Ragged batch = ragged(lengths, 5'000'000'000, *device);
                const std::int64_t T = batch.tokens() + padding_rows;
                const at::Tensor qkv = random.normal({T, 3 * H}, at::kBFloat16).to(*device),
                                 d_context = random.normal({T, H}, at::kBFloat16).to(*device);
                const Rotary rotary{random.normal({4096, D}).to(*device), N};
                const at::Tensor positions = random.below(4096, T).to(*device);
                const Dropout dropout = dropout_of(probability, Purpose::attention_dropout);
                const Attention shape{batch.layout, N, dropout, window, rotary, positions};
                const AttentionResult ours = attention(qkv, {}, shape), right = reference::attention(qkv, {}, shape);
                CHECK(relative_error(ours.context_TH, right.context_TH) < 1e-2);
                CHECK(relative_error(ours.log_sum_exp_TN, right.log_sum_exp_TN) < 1e-2);
                const at::Tensor d_ours = attention_backward(d_context, qkv, {}, ours, shape, {}).qkv_T3H,
                                 d_right = reference::attention_backward(d_context, qkv, {}, right, shape, {}).qkv_T3H;
                CHECK(relative_error(d_ours, d_right) < 2e-2);
                CHECK(same_bits(d_ours, attention_backward(d_context, qkv, {}, ours, shape, {}).qkv_T3H));
                CHECK(d_ours.narrow(0, batch.tokens(), padding_rows).eq(0).all().item<bool>());
            }
}
