#include "kernels/cuda/own_attention.h"

#include "kernels_cuda/cuda_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

struct Case {
    std::vector<std::int64_t> lengths;
    std::int64_t heads, head_size;
    double dropout;
    std::int64_t rows_of_none = 0;  ///< after the last sequence
};

struct Inputs {
    Case what;
    Ragged batch;
    at::Tensor qkv_T3H, bias_3H, d_context_TH;

    explicit Inputs(const Case& what_) : what(what_), batch(ragged(what_.lengths)) {
        RandomTensors random(static_cast<std::uint64_t>(what.head_size + what.heads));
        const std::int64_t T = batch.tokens() + what.rows_of_none, H = what.heads * what.head_size;
        qkv_T3H = random.normal({T, 3 * H}, at::kBFloat16);
        bias_3H = random.normal({3 * H}) * 0.2;
        d_context_TH = random.normal({T, H}, at::kBFloat16);
    }
    Attention shape() const { return {batch.layout, what.heads, dropout_of(what.dropout, Purpose::attention_dropout)}; }
};

struct Results {
    at::Tensor context_TH, log_sum_exp_TN, d_qkv_T3H, d_bias_3H;
};

template <class Forward, class Backward>
Results run(const Forward& forward, const Backward& backward, const Inputs& in, const at::Tensor& qkv_T3H,
            const at::Tensor& bias_3H) {
    const AttentionResult result = forward(qkv_T3H, bias_3H, in.shape());
    Results all{result.context_TH, result.log_sum_exp_TN, {}, at::ones_like(bias_3H)};
    all.d_qkv_T3H = backward(in.d_context_TH, qkv_T3H, bias_3H, result, in.shape(), all.d_bias_3H);
    return all;
}

Results ours(const Inputs& in) { return run(cuda::own_attention, cuda::own_attention_backward, in, in.qkv_T3H, in.bias_3H); }

/// The reference on the kernels' operands: query, key and value rounded after their biases are added.
Results right(const Inputs& in) {
    const at::Tensor biased_T3H = (in.qkv_T3H.to(at::kFloat) + in.bias_3H).to(at::kBFloat16);
    return run(reference::attention, reference::attention_backward, in, biased_T3H, at::zeros_like(in.bias_3H));
}

/// Probabilities, score gradients and results are rounded to bf16, each by at most 2^-9 of itself and 1.1e-3 in the root mean
/// square. The score gradients of a row sum to zero, which rounding disturbs: the part that all keys share (their bias) then
/// enters the queries' gradient. Hence small biases here, as in trained models.
constexpr double forward_bound = 3e-3, backward_bound = 6e-3;

void check(const Case& what) {
    CAPTURE(what.lengths, what.heads, what.head_size, what.dropout);
    const Inputs in(what);
    REQUIRE(cuda::is_short_attention(in.qkv_T3H, in.shape()));
    const auto results = in_two_orders([&] { return ours(in); });
    CHECK_SAME_BITS(results, context_TH);
    CHECK_SAME_BITS(results, d_qkv_T3H);
    CHECK_SAME_BITS(results, d_bias_3H);
    const Results expected = right(in);
    const std::int64_t H = what.heads * what.head_size, T = in.batch.tokens();
    CHECK(relative_error(results.first.context_TH, expected.context_TH) < forward_bound);
    CHECK(relative_error(results.first.log_sum_exp_TN, expected.log_sum_exp_TN) < 1e-5);
    for (const std::int64_t part : {0, 1, 2}) {
        CAPTURE(part);
        const auto of = [&](const at::Tensor& rows) { return rows.narrow(1, part * H, H); };
        CHECK(relative_error(of(results.first.d_qkv_T3H), of(expected.d_qkv_T3H)) < backward_bound);
    }
    CHECK(relative_error(results.first.d_bias_3H, expected.d_bias_3H) < backward_bound);
    CHECK(at::equal(results.first.d_bias_3H.narrow(0, H, H), at::ones({H})));  // the key's bias has no gradient
    CHECK(results.first.context_TH.narrow(0, T, what.rows_of_none).eq(0).all().item<bool>());
    CHECK(results.first.d_qkv_T3H.narrow(0, T, what.rows_of_none).eq(0).all().item<bool>());
}

}  // namespace

TEST_CASE("short attention on CUDA equals the reference for sequences of any length up to 128") {
    check({{128, 77, 0, 1, 50}, 1, 64, 0, 5});
    check({{15, 16, 17, 64, 65}, 1, 64, 0});
    check({{127, 2}, 1, 64, 0, 1});
}

TEST_CASE("short attention on CUDA drops what the reference drops, forward and backward") {
    check({{128, 33}, 2, 64, 0.1, 3});
    check({{100}, 1, 32, 0.5});
}

TEST_CASE("short attention on CUDA takes heads of 32, 64 and 128 features, and odd numbers of heads") {
    check({{40, 19}, 3, 32, 0.1});
    check({{90}, 1, 128, 0.1, 2});
    check({{20}, 5, 64, 0.1});
}

TEST_CASE("short attention on CUDA gives a sample the same bits in every batch") {
    const Inputs both({{70, 128}, 1, 64, 0.2});
    const Results together = ours(both);
    Inputs alone({{128}, 1, 64, 0.2});
    alone.batch = ragged({128}, both.batch.layout.samples_B[1]);
    alone.qkv_T3H = both.qkv_T3H.narrow(0, 70, 128), alone.bias_3H = both.bias_3H;
    alone.d_context_TH = both.d_context_TH.narrow(0, 70, 128);
    const Results one = ours(alone);
    CHECK(same_bits(one.context_TH, together.context_TH.narrow(0, 70, 128)));
    CHECK(same_bits(one.d_qkv_T3H, together.d_qkv_T3H.narrow(0, 70, 128)));
}

TEST_CASE("short attention on CUDA leaves longer sequences, other heads and fp32 to others") {
    const auto takes = [](const Case& what) {
        const Inputs in(what);
        return cuda::is_short_attention(in.qkv_T3H, in.shape());
    };
    CHECK(takes({{128}, 1, 64, 0}));
    CHECK_FALSE(takes({{129}, 1, 64, 0}));
    CHECK_FALSE(takes({{128}, 1, 48, 0}));
    const Inputs in({{128}, 1, 64, 0});
    CHECK_FALSE(cuda::is_short_attention(in.qkv_T3H.to(at::kFloat), in.shape()));
}
