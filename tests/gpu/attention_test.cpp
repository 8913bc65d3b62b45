#include "gpu/gpu.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr std::int64_t width = 4 * 64, padding_rows = 5;

struct Case {
    std::int64_t heads;
    std::vector<std::int64_t> lengths;
    std::int64_t window = 0;
};
/// By our kernels for at most 128 tokens; by those for more; by libtorch's flash attention, because heads have 128 features. Then
/// the same within a window.
const Case short_ones{4, {128, 77, 0, 1, 50}}, long_ones{4, {300, 128, 0, 1, 512}}, of_flash{2, {300, 128, 0, 1, 512}},
    short_local{4, short_ones.lengths, 20}, long_local{4, long_ones.lengths, 64}, local_of_flash{2, of_flash.lengths, 64};

/// Sequences on the GPU, followed by some rows that belong to no sequence.
struct Inputs {
    Ragged batch;
    at::Tensor qkv_T3H, bias_3H, d_context_TH;

    std::int64_t heads, window;

    Inputs(at::Device device, const Case& of)
        : batch(ragged(of.lengths, 5'000'000'000, device)), heads(of.heads), window(of.window) {
        RandomTensors random(3);
        const std::int64_t T = batch.tokens() + padding_rows;
        qkv_T3H = random.normal({T, 3 * width}, at::kBFloat16).to(device);
        bias_3H = random.normal({3 * width}).to(device);
        d_context_TH = random.normal({T, width}, at::kBFloat16).to(device);
    }
    Attention shape(double probability) const {
        return {batch.layout, heads, dropout_of(probability, Purpose::attention_dropout), window};
    }
};

}  // namespace

TEST_CASE("on a GPU attention without dropout equals the reference, forward and backward", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    const Case of = GENERATE(short_ones, long_ones, of_flash, short_local, long_local, local_of_flash);
    CAPTURE(of.heads, of.lengths, of.window);
    const Inputs in(*device, of);
    const AttentionResult ours = attention(in.qkv_T3H, in.bias_3H, in.shape(0));
    const AttentionResult right = reference::attention(in.qkv_T3H, in.bias_3H, in.shape(0));
    CHECK(relative_error(ours.context_TH, right.context_TH) < 1e-2);  // q, k and v are rounded after adding their biases
    CHECK(relative_error(ours.log_sum_exp_TN, right.log_sum_exp_TN) < 1e-2);
    const at::Tensor d_bias_ours = at::ones_like(in.bias_3H), d_bias_right = at::ones_like(in.bias_3H);
    const at::Tensor d_ours = attention_backward(in.d_context_TH, in.qkv_T3H, in.bias_3H, ours, in.shape(0), d_bias_ours).qkv_T3H;
    const at::Tensor d_right =
        reference::attention_backward(in.d_context_TH, in.qkv_T3H, in.bias_3H, right, in.shape(0), d_bias_right).qkv_T3H;
    CHECK(relative_error(d_ours, d_right) < 2e-2);
    CHECK(relative_error(d_bias_ours, d_bias_right) < 2e-2);
    CHECK(at::equal(d_bias_ours.narrow(0, width, width), at::ones_like(d_bias_ours.narrow(0, width, width))));
    CHECK(d_ours.narrow(0, in.batch.tokens(), padding_rows).eq(0).all().item<bool>());
}

TEST_CASE("on a GPU attention's backward drops what the forward dropped, and both are reproducible bit for bit", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    const Case of = GENERATE(short_ones, long_ones, of_flash, short_local, long_local, local_of_flash);
    CAPTURE(of.heads, of.lengths, of.window);
    const Inputs in(*device, of);
    const auto run = [&] { return attention(in.qkv_T3H, in.bias_3H, in.shape(0.3)); };
    const AttentionResult forward = run();
    CHECK(same_bits(forward.context_TH, run().context_TH));
    at::Tensor d_bias = at::zeros_like(in.bias_3H);
    const auto back = [&] {
        return attention_backward(in.d_context_TH, in.qkv_T3H, in.bias_3H, forward, in.shape(0.3), d_bias).qkv_T3H;
    };
    const at::Tensor d_qkv_T3H = back();
    CHECK(same_bits(d_qkv_T3H, back()));
    // The context is linear in v, with the kept probabilities as matrix: <d_context, context> = <d_v, v + bias>.
    const at::Tensor v_TH = (in.qkv_T3H.to(at::kDouble) + in.bias_3H).narrow(1, 2 * width, width);
    const double one = (in.d_context_TH.to(at::kDouble) * forward.context_TH).sum().item<double>();
    const double other = (d_qkv_T3H.to(at::kDouble).narrow(1, 2 * width, width) * v_TH).sum().item<double>();
    const double size = (in.d_context_TH.to(at::kDouble) * forward.context_TH).norm().item<double>();
    CHECK(std::abs(one - other) < 0.1 * size);
    Inputs others(*device, of);
    others.batch = ragged(of.lengths, 42, *device);
    CHECK_FALSE(same_bits(attention(others.qkv_T3H, others.bias_3H, others.shape(0.3)).context_TH, forward.context_TH));
}

TEST_CASE("on a GPU our attention drops what the reference drops", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    const Case of = GENERATE(short_ones, long_ones, short_local, long_local);
    CAPTURE(of.lengths, of.window);
    const Inputs in(*device, of);
    const AttentionResult ours = attention(in.qkv_T3H, in.bias_3H, in.shape(0.1));
    const AttentionResult right = reference::attention(in.qkv_T3H, in.bias_3H, in.shape(0.1));
    CHECK(relative_error(ours.context_TH, right.context_TH) < 1e-2);
    const at::Tensor d_bias_ours = at::zeros_like(in.bias_3H), d_bias_right = at::zeros_like(in.bias_3H);
    const at::Tensor d_ours =
        attention_backward(in.d_context_TH, in.qkv_T3H, in.bias_3H, ours, in.shape(0.1), d_bias_ours).qkv_T3H;
    const at::Tensor d_right =
        reference::attention_backward(in.d_context_TH, in.qkv_T3H, in.bias_3H, right, in.shape(0.1), d_bias_right).qkv_T3H;
    CHECK(relative_error(d_ours, d_right) < 2e-2);
    CHECK(relative_error(d_bias_ours, d_bias_right) < 2e-2);
}
