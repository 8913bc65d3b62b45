#pragma once
// Our attention kernels on the emulator, compared with the reference.

#include <algorithm>

#include "kernels/cuda/own_attention.h"
#include "kernels_cuda/cuda_inputs.h"

namespace bertpretrain::testing::own_attention {

struct Case {
    std::vector<std::int64_t> lengths;
    std::int64_t heads, head_size;
    double dropout;
    std::int64_t rows_of_none = 0;  ///< after the last sequence
    std::int64_t window = 0;        ///< Attention::window
};

/// A forward and the backward that reads its results.
struct Functions {
    decltype(&cuda::own_attention) forward = cuda::own_attention;
    decltype(&cuda::own_attention_backward) backward = cuda::own_attention_backward;
};

struct Inputs {
    Case what;
    Functions ours{};
    Ragged batch;
    at::Tensor qkv_T3H, bias_3H, d_context_TH;
    Rotary rotary{};  ///< as Attention::rotary
    at::Tensor positions_T{};

    explicit Inputs(const Case& what_, const Functions& ours_ = {}) : what(what_), ours(ours_), batch(ragged(what_.lengths)) {
        RandomTensors random(static_cast<std::uint64_t>(what.head_size + what.heads));
        const std::int64_t T = batch.tokens() + what.rows_of_none, H = what.heads * what.head_size;
        qkv_T3H = random.normal({T, 3 * H}, at::kBFloat16);
        bias_3H = random.normal({3 * H}) * 0.2;
        d_context_TH = random.normal({T, H}, at::kBFloat16);
    }
    Attention shape() const {
        return {batch.layout, what.heads, dropout_of(what.dropout, Purpose::attention_dropout), what.window, rotary, positions_T};
    }
    /// Makes queries and keys rotated ones, without biases.
    void rotate() {
        RandomTensors random(11);
        bias_3H = at::Tensor();
        rotary = {random.normal({2000, what.head_size}), what.heads};
        positions_T = random.below(2000, qkv_T3H.size(0));
    }
};

struct Results {
    at::Tensor context_TH, log_sum_exp_TN, d_qkv_T3H, d_bias_3H;
};

template <class Forward, class Backward>
Results run(const Forward& forward, const Backward& backward, const Inputs& in, const at::Tensor& qkv_T3H,
            const at::Tensor& bias_3H) {
    const AttentionResult result = forward(qkv_T3H, bias_3H, in.shape());
    Results all{result.context_TH, result.log_sum_exp_TN, {}, {}};
    if (bias_3H.defined()) all.d_bias_3H = at::ones_like(bias_3H);
    all.d_qkv_T3H = backward(in.d_context_TH, qkv_T3H, bias_3H, result, in.shape(), all.d_bias_3H).qkv_T3H;
    return all;
}

inline Results ours(const Inputs& in) { return run(in.ours.forward, in.ours.backward, in, in.qkv_T3H, in.bias_3H); }

/// Which of the kernels' operands are rounded after their biases are added; the others keep their biases apart.
enum class Rounded { all, queries, none };

/// The kernels that compute this on the emulated device.
inline cuda::AttentionKernels kernels_of(const Inputs& in) {
    return cuda::own_attention_kernels(cuda::attention_size(in.qkv_T3H, in.shape()));
}

/// The reference on the kernels' operands.
inline Results right(const Inputs& in, Rounded rounded) {
    at::Tensor biased_T3H = in.qkv_T3H.to(at::kFloat);
    if (in.bias_3H.defined()) biased_T3H = biased_T3H + in.bias_3H;
    if (rounded == Rounded::all) biased_T3H = biased_T3H.to(at::kBFloat16);
    else if (rounded == Rounded::queries) {
        const at::Tensor queries_TH = biased_T3H.narrow(1, 0, in.d_context_TH.size(1));
        queries_TH.copy_(queries_TH.to(at::kBFloat16));
    }
    Inputs operands = in;
    operands.d_context_TH = in.d_context_TH.to(biased_T3H.scalar_type());
    return run(reference::attention, reference::attention_backward, operands, biased_T3H,
               in.bias_3H.defined() ? at::zeros_like(in.bias_3H) : at::Tensor());
}

/// Probabilities, score gradients and results are rounded to bf16, each by at most 2^-9 of itself and 1.1e-3 in the root mean
/// square. The score gradients of a row sum to zero, which rounding disturbs: the part that all keys share (their bias) then
/// enters the queries' gradient. Hence small biases here, as in trained models.
constexpr double forward_bound = 3e-3;

inline void check_attention(const Inputs& in, Rounded rounded, double backward_bound = 6e-3) {
    const Case& what = in.what;
    CAPTURE(what.lengths, what.heads, what.head_size, what.dropout, what.window, in.bias_3H.defined());
    const auto results = in_two_orders([&] { return ours(in); });
    CHECK_SAME_BITS(results, context_TH);
    CHECK_SAME_BITS(results, d_qkv_T3H);
    const Results expected = right(in, rounded);
    const std::int64_t H = what.heads * what.head_size, T = in.batch.tokens();
    CHECK(relative_error(results.first.context_TH, expected.context_TH) < forward_bound);
    CHECK(relative_error(results.first.log_sum_exp_TN, expected.log_sum_exp_TN) < 1e-5);
    for (const std::int64_t part : {0, 1, 2}) {
        CAPTURE(part);
        const auto of = [&](const at::Tensor& rows) { return rows.narrow(1, part * H, H); };
        CHECK(relative_error(of(results.first.d_qkv_T3H), of(expected.d_qkv_T3H)) < backward_bound);
    }
    CHECK(results.first.context_TH.narrow(0, T, what.rows_of_none).eq(0).all().item<bool>());
    CHECK(results.first.d_qkv_T3H.narrow(0, T, what.rows_of_none).eq(0).all().item<bool>());
    if (!in.bias_3H.defined()) return;
    CHECK_SAME_BITS(results, d_bias_3H);
    CHECK(relative_error(results.first.d_bias_3H, expected.d_bias_3H) < backward_bound);
    CHECK(at::equal(results.first.d_bias_3H.narrow(0, H, H), at::ones({H})));  // the key's bias has no gradient
}

/// Checks that a window that no two tokens of a sequence exceed changes no bit.
inline void check_wide_window(Case what) {
    const Results without = ours(Inputs(what));
    what.window = *std::ranges::max_element(what.lengths) - 1;
    const Results within = ours(Inputs(what));
    CHECK(same_bits(without.context_TH, within.context_TH));
    CHECK(same_bits(without.log_sum_exp_TN, within.log_sum_exp_TN));
    CHECK(same_bits(without.d_qkv_T3H, within.d_qkv_T3H));
    CHECK(same_bits(without.d_bias_3H, within.d_bias_3H));
}

/// Checks that a sample of `length` tokens has the same bits alone as after another one of `other` tokens.
inline void check_bits_in_batches(std::int64_t other, std::int64_t length, const Functions& by = {}) {
    const Inputs both({{other, length}, 1, 64, 0.2}, by);
    const Results together = ours(both);
    Inputs alone({{length}, 1, 64, 0.2}, by);
    alone.batch = ragged({length}, both.batch.layout.samples_B[1]);
    alone.qkv_T3H = both.qkv_T3H.narrow(0, other, length), alone.bias_3H = both.bias_3H;
    alone.d_context_TH = both.d_context_TH.narrow(0, other, length);
    const Results one = ours(alone);
    CHECK(same_bits(one.context_TH, together.context_TH.narrow(0, other, length)));
    CHECK(same_bits(one.d_qkv_T3H, together.d_qkv_T3H.narrow(0, other, length)));
}

}  // namespace bertpretrain::testing::own_attention
