#include "kernels/cuda/own_attention.h"
#include "kernels_cuda/cuda_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

struct Results {
    at::Tensor context_TH, log_sum_exp_TN, d_qkv_T3H, d_bias_3H;
};

struct Case {
    std::vector<std::int64_t> lengths;
    std::int64_t heads, head_size;
    double dropout;
    at::ScalarType compute_dtype = at::kFloat;
    std::int64_t rows_of_none = 0;
    bool has_bias = true;
    std::int64_t window = 0;
};

void check(const Case& what) {
    CAPTURE(what.lengths, what.heads, what.head_size, what.dropout, what.compute_dtype, what.has_bias, what.window);
    const Ragged batch = ragged(what.lengths);
    RandomTensors random(9);
    const std::int64_t T = batch.tokens() + what.rows_of_none, H = what.heads * what.head_size;
    const at::Tensor qkv_T3H = random.normal({T, 3 * H}, what.compute_dtype),
                     bias_3H = what.has_bias ? random.normal({3 * H}) : at::Tensor(),
                     d_context_TH = random.normal({T, H}, what.compute_dtype);
    const Attention shape{batch.layout, what.heads, dropout_of(what.dropout, Purpose::attention_dropout), what.window};
    REQUIRE((cuda::own_attention_kernels(cuda::attention_size(qkv_T3H, shape)) == cuda::AttentionKernels::any));
    const auto run = [&](auto forward, auto backward) {
        const AttentionResult result = forward(qkv_T3H, bias_3H, shape);
        Results all{result.context_TH, result.log_sum_exp_TN, {}, {}};
        if (what.has_bias) all.d_bias_3H = at::ones_like(bias_3H);
        all.d_qkv_T3H = backward(d_context_TH, qkv_T3H, bias_3H, result, shape, all.d_bias_3H).qkv_T3H;
        return all;
    };
    const auto ours = in_two_orders([&] { return run(cuda::own_attention, cuda::own_attention_backward); });
    const Results right = run(reference::attention, reference::attention_backward);
    CHECK_ROUNDED(ours.first.context_TH, right.context_TH);
    CHECK_ROUNDED(ours.first.log_sum_exp_TN, right.log_sum_exp_TN);
    // In bf16, the score gradients are computed from the rounded context; in fp32 nothing is rounded.
    const double bound = what.compute_dtype == at::kFloat ? rounding_bound(right.log_sum_exp_TN) : 1e-2;
    CHECK(relative_error(ours.first.d_qkv_T3H, right.d_qkv_T3H) < bound);
    CHECK(ours.first.d_qkv_T3H.narrow(0, batch.tokens(), what.rows_of_none).eq(0).all().item<bool>());
    CHECK_SAME_BITS(ours, context_TH);
    CHECK_SAME_BITS(ours, d_qkv_T3H);
    if (!what.has_bias) return;
    CHECK(relative_error(ours.first.d_bias_3H, right.d_bias_3H) < bound);
    CHECK(at::equal(ours.first.d_bias_3H.narrow(0, H, H), at::ones({H})));
    CHECK_SAME_BITS(ours, d_bias_3H);
}

}  // namespace

TEST_CASE("attention on CUDA in fp32 equals the reference for sequences of any length", "[system]") {
    check({{40, 0, 1, 33}, 2, 64, 0, at::kFloat, 5});
    check({{150, 31, 32}, 1, 8, 0});
}

TEST_CASE("attention on CUDA in fp32 drops what the reference drops", "[system]") {
    check({{129, 260}, 1, 8, 0.1, at::kFloat, 2});
    check({{40}, 3, 16, 0.5});
}

TEST_CASE("attention on CUDA in fp32 equals the reference without a bias") {
    check({{40, 1, 33}, 2, 16, 0.1, at::kFloat, 5, /*has_bias=*/false});
}

TEST_CASE("attention on CUDA in fp32 equals the reference within a window", "[system]") {
    for (const std::int64_t window : {1, 31, 32, 33, 64, 148})
        check({{150, 0, 1, 31, 64}, 1, 8, 0.1, at::kFloat, 2, /*has_bias=*/true, window});
    check({{140, 33}, 2, 48, 0, at::kBFloat16, 0, /*has_bias=*/true, 20});
}

TEST_CASE("attention on CUDA takes heads of any size, and bf16", "[system]") {
    check({{37, 64}, 1, 7, 0.1});
    check({{20}, 1, 256, 0.1});
    check({{45}, 2, 48, 0.1, at::kBFloat16, 3});
    check({{140}, 1, 128, 0.1, at::kBFloat16});
}
