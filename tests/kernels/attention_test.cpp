#include "kernels/kernel_inputs.h"
#include "kernels/reference/dropout_factors.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

struct Shape {
    std::int64_t H, N;
};
const std::vector<Shape> shapes{{40, 5}, {72, 4}, {101, 1}, {128, 2}};

struct Inputs {
    at::Tensor qkv_T3H, bias_3H, d_context_TH, d_bias_before_3H;

    Inputs(std::int64_t T, std::int64_t H, at::ScalarType compute_dtype, double spread = 1, bool has_bias = true) {
        RandomTensors random(static_cast<std::uint64_t>(H));
        qkv_T3H = (random.normal({T, 3 * H}) * spread).to(compute_dtype);
        if (has_bias) bias_3H = random.normal({3 * H}) * spread;
        d_context_TH = random.normal({T, H}, compute_dtype);
        if (has_bias) d_bias_before_3H = random.normal({3 * H});
    }
};

struct Results {
    AttentionResult forward;
    at::Tensor d_qkv_T3H, d_bias_3H;
};

Results run(const Operations& operations, const Inputs& in, const Ragged& batch, std::int64_t heads, double probability,
            std::int64_t window = 0) {
    const Attention attention{batch.layout, heads, dropout_of(probability, Purpose::attention_dropout), window};
    Results results{operations.attention(in.qkv_T3H, in.bias_3H, attention), {}, {}};
    if (in.bias_3H.defined()) results.d_bias_3H = in.d_bias_before_3H.clone();
    results.d_qkv_T3H =
        operations.attention_backward(in.d_context_TH, in.qkv_T3H, in.bias_3H, results.forward, attention, results.d_bias_3H)
            .qkv_T3H;
    return results;
}

/// Returns the dropout factors of one sequence's probabilities, heads x S x S.
at::Tensor keep_factors(const Dropout& dropout, std::int64_t sample, std::int64_t heads, std::int64_t S) {
    const at::Tensor positions_S = at::arange(S, at::TensorOptions(at::kLong));
    std::vector<at::Tensor> of_heads;
    for (std::int64_t n = 0; n < heads; ++n)
        of_heads.push_back(reference::dropout_factors(dropout, at::full_like(positions_S, sample), positions_S,
                                                      at::full_like(positions_S, n * attention_groups_per_head), S));
    return at::stack(of_heads);
}

/// Attention as in Vaswani et al. and its autograd, in float64.
Results expected(const Inputs& in, const Ragged& batch, std::int64_t heads, double probability, std::int64_t window = 0) {
    const std::int64_t H = in.d_context_TH.size(1), D = H / heads;
    const at::Tensor qkv = leaf(in.qkv_T3H), bias = leaf(in.bias_3H);
    const at::Tensor biased = bias.defined() ? qkv + bias : qkv;
    const Dropout dropout = dropout_of(probability, Purpose::attention_dropout);
    std::vector<at::Tensor> contexts, log_sums;
    for (std::size_t b = 0; b < batch.layout.samples_B.size(); ++b) {
        const std::int64_t first = batch.layout.starts_B1[b], S = batch.layout.starts_B1[b + 1] - first;
        const auto part_NSD = [&](std::int64_t third) {
            return biased.narrow(0, first, S).narrow(1, third * H, H).view({S, heads, D}).transpose(0, 1);
        };
        at::Tensor scores_NSS = at::matmul(part_NSD(0), part_NSD(1).transpose(1, 2)) / std::sqrt(static_cast<double>(D));
        const at::Tensor distance_SS = at::ones({S, S}).cumsum(1) - at::ones({S, S}).cumsum(0);
        if (window > 0) scores_NSS = scores_NSS.masked_fill(distance_SS.abs() > window, -1e30);
        at::Tensor probabilities_NSS = scores_NSS.softmax(2);
        if (probability > 0) probabilities_NSS = probabilities_NSS * keep_factors(dropout, batch.layout.samples_B[b], heads, S);
        contexts.push_back(at::matmul(probabilities_NSS, part_NSD(2)).transpose(0, 1).reshape({S, H}));
        log_sums.push_back(scores_NSS.logsumexp({2}).t());
    }
    const at::Tensor context = at::cat(contexts);
    (context * in.d_context_TH.to(at::kDouble)).sum().backward();
    return {{context.detach(), at::cat(log_sums).detach()}, qkv.grad(), bias.defined() ? bias.grad() : at::Tensor()};
}

}  // namespace

TEST_CASE("attention's backward rotates the gradients of rotated queries and keys back") {
    const Ragged batch = ragged({5, 1, 17});
    const std::int64_t N = 2, D = 64;
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const Operations& operations : both_implementations) {
            CAPTURE(operations.name, compute_dtype);
            const Inputs in(batch.tokens(), N * D, compute_dtype, 1, /*has_bias=*/false);
            RandomTensors random(4);
            const Rotary rotary{random.normal({50, D}), N};
            const Attention plain{batch.layout, N, {}}, rotated{batch.layout, N, {}, 0, rotary, random.below(50, batch.tokens())};
            const AttentionResult forward = operations.attention(in.qkv_T3H, {}, rotated);
            at::Tensor right_T3H = operations.attention_backward(in.d_context_TH, in.qkv_T3H, {}, forward, plain, {}).qkv_T3H;
            operations.rotate(right_T3H, rotated.positions_T, rotary.inverted());
            CHECK(same_bits(operations.attention_backward(in.d_context_TH, in.qkv_T3H, {}, forward, rotated, {}).qkv_T3H,
                            right_T3H));
        }
}

TEST_CASE("attention over ragged sequences and its backward equal autograd, with and without a bias") {
    const Ragged batch = ragged({1, 2, 17, 43, 3});
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const double probability : {0.0, 0.1})
            for (const Shape& shape : shapes)
                for (const bool has_bias : {true, false}) {
                    const std::int64_t H = shape.H;
                    const Inputs in(batch.tokens(), H, compute_dtype, 1, has_bias);
                    const Results right = expected(in, batch, shape.N, probability);
                    for (const Operations& operations : both_implementations) {
                        CAPTURE(operations.name, compute_dtype, probability, H, has_bias);
                        const Results results = run(operations, in, batch, shape.N, probability);
                        CHECK(results.forward.context_TH.scalar_type() == compute_dtype);
                        CHECK(results.d_qkv_T3H.scalar_type() == compute_dtype);
                        CHECK_ROUNDED(results.forward.context_TH, right.forward.context_TH);
                        CHECK_ROUNDED(results.forward.log_sum_exp_TN, right.forward.log_sum_exp_TN);
                        for (std::int64_t third = 0; third < 3; ++third) {
                            CAPTURE(third);
                            // With bf16 matmuls, the score gradients are rounded as well: two roundings give 2.4e-3,
                            // three 2.9e-3.
                            const double bound = compute_dtype == at::kBFloat16 ? 2.7e-3 : rounding_bound(results.d_qkv_T3H);
                            CHECK(relative_error(results.d_qkv_T3H.narrow(1, third * H, H),
                                                 right.d_qkv_T3H.narrow(1, third * H, H)) <= bound);
                            if (!has_bias) continue;
                            const at::Tensor before = in.d_bias_before_3H.narrow(0, third * H, H),
                                             after = results.d_bias_3H.narrow(0, third * H, H);
                            if (third == 1) CHECK(same_bits(after, before));
                            else CHECK_ROUNDED(after, before + right.d_bias_3H.narrow(0, third * H, H));
                        }
                        if (has_bias)
                            CHECK(right.d_bias_3H.narrow(0, H, H).abs().max().item<double>() <
                                  1e-12);  // the reason why the key's third is not computed
                    }
                }
}

TEST_CASE("attention within a window and its backward equal autograd, at lengths around the window's and the blocks' ends") {
    for (const std::int64_t window : {1, 8, 64})
        for (const auto& lengths : std::vector<std::vector<std::int64_t>>{{1, 9, 17, 65, 129}, {130, 200, 3}})
            for (const auto& [H, heads] : {std::pair<std::int64_t, std::int64_t>{40, 5}, {128, 2}})
                for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
                    for (const double probability : {0.0, 0.1}) {
                        const Ragged batch = ragged(lengths);
                        const Inputs in(batch.tokens(), H, compute_dtype, 1, /*has_bias=*/compute_dtype == at::kFloat);
                        const Results right = expected(in, batch, heads, probability, window);
                        const bool is_bf16 = compute_dtype == at::kBFloat16;
                        for (const Operations& operations : both_implementations) {
                            CAPTURE(operations.name, window, lengths.front(), H, compute_dtype, probability);
                            const Results results = run(operations, in, batch, heads, probability, window);
                            CHECK_ROUNDED(results.forward.context_TH, right.forward.context_TH);
                            CHECK_ROUNDED(results.forward.log_sum_exp_TN, right.forward.log_sum_exp_TN);
                            CHECK(relative_error(results.d_qkv_T3H, right.d_qkv_T3H) <= (is_bf16 ? 2.7e-3 : 3e-6));
                            if (in.bias_3H.defined())
                                CHECK(relative_error(results.d_bias_3H, in.d_bias_before_3H + right.d_bias_3H) <= 3e-6);
                        }
                    }
}

TEST_CASE("a sequence's attention does not depend on the sequences beside it") {
    const Ragged together = ragged({9, 31, 1}, 50), alone = ragged({31}, 51);
    const Inputs in(41, 72, at::kBFloat16);
    Inputs part = in;
    part.qkv_T3H = in.qkv_T3H.narrow(0, 9, 31).contiguous();
    part.d_context_TH = in.d_context_TH.narrow(0, 9, 31).contiguous();
    for (const Operations& operations : both_implementations) {
        CAPTURE(operations.name);
        const Results all = run(operations, in, together, 4, 0.1), one = run(operations, part, alone, 4, 0.1);
        CHECK(relative_error(one.forward.context_TH, all.forward.context_TH.narrow(0, 9, 31)) < 1e-4);
        CHECK(relative_error(one.d_qkv_T3H, all.d_qkv_T3H.narrow(0, 9, 31)) < 1e-4);
    }
}

TEST_CASE("a sequence without tokens changes nothing for those beside it, with and without dropout") {
    const Ragged with_empty = ragged({9, 0, 31}, 50), same_samples = ragged_samples({9, 31}, {50, 52});
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const double probability : {0.0, 0.1})
            for (const Operations& operations : both_implementations) {
                CAPTURE(operations.name, compute_dtype, probability);
                const Inputs in(40, 72, compute_dtype);
                const Results found = run(operations, in, with_empty, 4, probability),
                              right = run(operations, in, same_samples, 4, probability);
                CHECK(same_bits(found.forward.context_TH, right.forward.context_TH));
                CHECK(same_bits(found.d_qkv_T3H, right.d_qkv_T3H));
                CHECK(same_bits(found.d_bias_3H, right.d_bias_3H));
            }
}

TEST_CASE("a NaN in a query's features makes its context NaN, and one in a key's features that of the whole sequence") {
    const Ragged batch = ragged({3, 33, 2});
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const std::int64_t D : {8, 64})
            for (const Operations& operations : both_implementations) {
                CAPTURE(operations.name, compute_dtype, D);
                const Inputs in(38, 2 * D, compute_dtype);
                const auto is_nan_with_nan_at = [&](std::int64_t row, std::int64_t third) {
                    Inputs spoilt = in;
                    spoilt.qkv_T3H = in.qkv_T3H.clone();
                    spoilt.qkv_T3H[row][third * 2 * D + 1] = std::nan("");  // of the first head
                    const AttentionResult result = run(operations, spoilt, batch, 2, 0).forward;
                    CHECK(at::equal(result.log_sum_exp_TN.select(1, 0).isnan(), result.context_TH.select(1, 0).isnan()));
                    CHECK_FALSE(result.context_TH.narrow(1, D, D).isnan().any().item<bool>());  // the other head
                    return result.context_TH.narrow(1, 0, D).isnan().all(1);
                };
                const at::Tensor of_query = is_nan_with_nan_at(20, 0), of_key = is_nan_with_nan_at(20, 1);
                CHECK(of_query[20].item<bool>());
                CHECK(of_query.sum().item<std::int64_t>() == 1);
                CHECK(of_key.narrow(0, 3, 33).all().item<bool>());
                CHECK(of_key.sum().item<std::int64_t>() == 33);
            }
}

TEST_CASE("attention stays right if one score outweighs all others") {
    const Ragged batch = ragged({33, 2});
    const Inputs in(35, 40, at::kFloat, 12);  // scores of several hundreds
    const Results right = expected(in, batch, 5, 0);
    CHECK(right.forward.log_sum_exp_TN.max().item<double>() > 300);
    for (const Operations& operations : both_implementations) {
        CAPTURE(operations.name);
        const Results results = run(operations, in, batch, 5, 0);
        // a score of 500 in fp32 is exact to 3e-5, and so is its probability
        CHECK(relative_error(results.forward.context_TH, right.forward.context_TH) < 1e-4);
        CHECK(relative_error(results.d_qkv_T3H, right.d_qkv_T3H) < 1e-3);
    }
}

TEST_CASE("rows after the last sequence give zeros and do not change other results") {
    const Ragged batch = ragged({9, 4});
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16}) {
        const Inputs filled(16, 72, compute_dtype);
        Inputs real = filled;
        real.qkv_T3H = filled.qkv_T3H.narrow(0, 0, 13);
        real.d_context_TH = filled.d_context_TH.narrow(0, 0, 13);
        for (const Operations& operations : both_implementations) {
            CAPTURE(operations.name, compute_dtype);
            const Results all = run(operations, filled, batch, 4, 0.1), some = run(operations, real, batch, 4, 0.1);
            CHECK(same_bits(all.forward.context_TH.narrow(0, 0, 13), some.forward.context_TH));
            CHECK(same_bits(all.d_qkv_T3H.narrow(0, 0, 13), some.d_qkv_T3H));
            CHECK(relative_error(all.d_bias_3H, some.d_bias_3H) < 1e-6);
            CHECK(all.forward.context_TH.narrow(0, 13, 3).eq(0).all().item<bool>());
            CHECK(all.d_qkv_T3H.narrow(0, 13, 3).eq(0).all().item<bool>());
        }
    }
}
