#include "kernels_cuda/cuda_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

constexpr double eps = 1e-12;

struct Inputs {
    at::Tensor out_TH, bias_H, residual_TH, d_normed_TH, d_residual_TH, d_sum_TH;
    NormParameters norm;
    at::ScalarType residual_dtype;

    Inputs(std::int64_t T, std::int64_t H, at::ScalarType compute_dtype, at::ScalarType of_residual = at::kFloat)
        : residual_dtype(of_residual) {
        RandomTensors random(static_cast<std::uint64_t>(H));
        out_TH = random.normal({T, H}, compute_dtype);
        bias_H = random.normal({H});
        residual_TH = (random.normal({T, H}) + 0.5).to(residual_dtype);
        d_normed_TH = random.normal({T, H}, compute_dtype);
        d_residual_TH = random.normal({T, H}, residual_dtype);
        d_sum_TH = random.normal({T, H}, residual_dtype);
        norm = {random.normal({H}) + 1, random.normal({H})};
    }
};

struct Results {
    NormResult forward;
    NormGradients gradients;
    NormParameters d_norm;
    at::Tensor d_bias_H;
};

/// Forward with one implementation, and backward of the reference's forward, so that errors do not accumulate.
Results run(decltype(&reference::dropout_residual_norm) forward, decltype(&reference::dropout_residual_norm_backward) backward,
            const Inputs& in, const Ragged& batch, double probability, at::ScalarType compute_dtype) {
    const Dropout dropout = dropout_of(probability);
    Results results;
    const NormArguments arguments{in.out_TH, in.bias_H,  in.residual_TH, in.norm, eps,
                                  dropout,   batch.rows, compute_dtype,  true,    in.residual_dtype};
    results.forward = forward(arguments);
    const NormResult right = reference::dropout_residual_norm(arguments);
    results.d_norm.weight_H = at::ones_like(in.norm.weight_H);
    if (in.norm.bias_H.defined()) results.d_norm.bias_H = at::ones_like(in.norm.bias_H);
    if (in.bias_H.defined()) results.d_bias_H = at::ones_like(in.bias_H);
    results.gradients = backward({in.d_normed_TH, in.d_residual_TH, in.d_sum_TH, right, in.norm, dropout, batch.rows,
                                  compute_dtype, results.d_norm, results.d_bias_H});
    return results;
}

/// Runs the kernels in two orders of threads, and the reference.
void check(const Inputs& in, const Ragged& batch, double probability, at::ScalarType compute_dtype) {
    CAPTURE(compute_dtype, in.residual_dtype, probability, batch.tokens(), in.norm.weight_H.size(0), in.out_TH.defined());
    const auto ours = in_two_orders([&] {
        return run(cuda::dropout_residual_norm, cuda::dropout_residual_norm_backward, in, batch, probability, compute_dtype);
    });
    const Results right =
        run(reference::dropout_residual_norm, reference::dropout_residual_norm_backward, in, batch, probability, compute_dtype);
    const Results& first = ours.first;
    CHECK(same_bits(first.forward.sum_TH, right.forward.sum_TH));  // masks included
    CHECK(first.forward.normed_TH.scalar_type() == compute_dtype);
    CHECK_ROUNDED(first.forward.normed_TH, right.forward.normed_TH);
    CHECK_ROUNDED(first.forward.normed_fp32_TH, right.forward.normed_fp32_TH);
    CHECK_ROUNDED(first.forward.mean_T, right.forward.mean_T);
    CHECK_ROUNDED(first.forward.rstd_T, right.forward.rstd_T);
    CHECK_ROUNDED(first.gradients.sum_TH, right.gradients.sum_TH);
    CHECK_ROUNDED(first.d_norm.weight_H, right.d_norm.weight_H);
    if (in.norm.bias_H.defined()) CHECK_ROUNDED(first.d_norm.bias_H, right.d_norm.bias_H);
    CHECK_SAME_BITS(ours, forward.normed_TH);
    CHECK_SAME_BITS(ours, forward.mean_T);
    CHECK_SAME_BITS(ours, forward.rstd_T);
    CHECK_SAME_BITS(ours, gradients.sum_TH);
    CHECK_SAME_BITS(ours, d_norm.weight_H);
    if (in.norm.bias_H.defined()) CHECK_SAME_BITS(ours, d_norm.bias_H);
    CHECK(first.gradients.out_TH.defined() == in.out_TH.defined());
    if (!in.out_TH.defined()) return;
    CHECK(first.gradients.out_TH.scalar_type() == compute_dtype);
    CHECK_ROUNDED(first.gradients.out_TH, right.gradients.out_TH);
    if (!in.bias_H.defined()) return;
    CHECK_ROUNDED(first.d_bias_H, right.d_bias_H);
    CHECK_SAME_BITS(ours, d_bias_H);
}

}  // namespace

TEST_CASE("dropout + residual + LayerNorm on CUDA equals the reference at every width, forward and backward", "[system]") {
    const Ragged batch = ragged({1, 12, 6});
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const double probability : {0.0, 0.1})
            for (const std::int64_t H : widths)
                check(Inputs(batch.tokens(), H, compute_dtype), batch, probability, compute_dtype);
    for (const std::int64_t H : widths) check(Inputs(batch.tokens(), H, at::kBFloat16, at::kBFloat16), batch, 0.1, at::kBFloat16);
}

TEST_CASE("dropout + residual + LayerNorm or RMSNorm on CUDA accepts each optional tensor as undefined") {
    const Ragged batch = ragged({9});
    for (int absent = 0; absent < 10; ++absent)
        for (const at::ScalarType residual_dtype : {at::kFloat, at::kBFloat16}) {
            CAPTURE(absent);
            Inputs in(9, 136, at::kBFloat16, residual_dtype);
            if (absent == 0) in.out_TH = in.bias_H = at::Tensor();
            if (absent == 1) in.residual_TH = at::Tensor();
            if (absent == 2) in.d_normed_TH = at::Tensor();
            if (absent == 3) in.d_residual_TH = at::Tensor();
            if (absent == 4) in.d_sum_TH = at::Tensor();
            if (absent == 5 || absent == 7) in.bias_H = at::Tensor();
            if (absent == 6 || absent == 7 || absent == 9) in.norm.bias_H = at::Tensor();
            if (absent >= 8) in.norm.kind = NormKind::rms;
            check(in, batch, 0.1, at::kBFloat16);
        }
}

TEST_CASE("LayerNorm on CUDA accepts a single row, and unaligned tensors") {
    const Ragged batch = ragged({1});
    for (const at::ScalarType residual_dtype : {at::kFloat, at::kBFloat16}) {
        Inputs in(1, 1024, at::kBFloat16, residual_dtype);
        check(in, batch, 0.1, at::kBFloat16);
        in.residual_TH = unaligned(in.residual_TH);
        in.d_normed_TH = unaligned(in.d_normed_TH);
        check(in, batch, 0.1, at::kBFloat16);
    }
}

TEST_CASE("column sums on CUDA are right over many chunks of rows") {
    const Ragged batch = ragged({150, 1});
    check(Inputs(batch.tokens(), 40, at::kFloat), batch, 0.1, at::kFloat);
}

TEST_CASE("dropout on CUDA draws the reference's masks bit for bit") {
    for (const std::int64_t H : widths) {
        const Ragged batch = ragged({1, 3});
        const at::Tensor x_TH = RandomTensors(7).normal({batch.tokens(), H});
        for (const double probability : {0.1, 0.5}) {
            CAPTURE(H, probability);
            const at::Tensor expected_TH = reference::dropout_rows(x_TH, dropout_of(probability), batch.rows);
            CHECK(same_bits(cuda::dropout_rows(x_TH, dropout_of(probability), batch.rows), expected_TH));
            CHECK(same_bits(cuda::dropout_rows(unaligned(x_TH), dropout_of(probability), batch.rows), expected_TH));
        }
        CHECK(cuda::dropout_rows(x_TH, dropout_of(0), batch.rows).is_same(x_TH));
    }
}

TEST_CASE("the fp32 copy of a row normalized on CUDA is kept only on request") {
    const Inputs in(3, 40, at::kFloat);
    CHECK_FALSE(cuda::dropout_residual_norm({in.out_TH, in.bias_H, in.residual_TH, in.norm, eps, {}, {}, at::kFloat, false})
                    .normed_fp32_TH.defined());
}

TEST_CASE("rows too wide for a block's registers are normalized by the reference") {
    const Ragged batch = ragged({2});
    check(Inputs(2, 4097, at::kFloat), batch, 0.1, at::kFloat);
    check(Inputs(2, 4097, at::kBFloat16, at::kBFloat16), batch, 0.1, at::kBFloat16);
}

TEST_CASE("on CUDA a residual that is a LayerNorm is recomputed to rounding") {
    for (const std::int64_t H : {7, 256, 1024}) {
        CAPTURE(H);
        const Inputs in(13, H, at::kBFloat16);
        Inputs before(13, H, at::kBFloat16);
        if (H == 256) before.norm.bias_H = at::Tensor();
        const Ragged batch = ragged({13});
        const NormResult normed = reference::dropout_residual_norm(
            {before.out_TH, before.bias_H, {}, before.norm, eps, {}, batch.rows, at::kBFloat16, true});
        const auto run = [&](auto forward, const Residual& residual) {
            return forward({in.out_TH, in.bias_H, residual, in.norm, eps, dropout_of(0.1), batch.rows, at::kBFloat16, false});
        };
        const Residual residual = Residual::of(normed, before.norm);
        const NormResult right = run(reference::dropout_residual_norm, normed.normed_fp32_TH),
                         ours = run(cuda::dropout_residual_norm, residual);
        CHECK_ROUNDED(ours.sum_TH, right.sum_TH);
        CHECK_ROUNDED(ours.normed_TH, right.normed_TH);
        CHECK(same_bits(run(reference::dropout_residual_norm, residual).sum_TH, right.sum_TH));
        const at::Tensor rows_R = at::tensor({3, 0, 12}, at::TensorOptions(at::kLong));
        CHECK(same_bits(residual.select(rows_R).fp32(), normed.normed_fp32_TH.index_select(0, rows_R)));
    }
}

namespace {

/// Checks both directions, in two orders of threads.
void check_fp8(const Inputs& in, const Ragged& batch, NormKind kind, bool is_post_ln) {
    CAPTURE(in.residual_dtype, batch.tokens(), in.norm.weight_H.size(0), is_post_ln);
    NormArguments arguments{in.out_TH,       in.bias_H,  in.residual_TH, in.norm, eps,
                            dropout_of(0.1), batch.rows, at::kBFloat16,  true,    in.residual_dtype};
    arguments.norm.kind = kind;
    const NormResult plain = cuda::dropout_residual_norm(arguments);
    const auto forward = in_two_orders([&] {
        arguments.quantizer = quantizer_of(at::kFloat8_e4m3fn);
        return std::pair{cuda::dropout_residual_norm(arguments), *arguments.quantizer};
    });
    for (const auto& [ours, by] : {forward.first, forward.second}) {
        CHECK_FALSE(ours.normed_TH.defined());
        CHECK(same_bits(ours.sum_TH, plain.sum_TH));
        CHECK(same_bits(ours.mean_T, plain.mean_T));
        CHECK(same_bits(ours.rstd_T, plain.rstd_T));
        CHECK(same_bits(ours.normed_fp32_TH, plain.normed_fp32_TH));
        check_rounded(ours.normed_fp8, by, plain.normed_TH);
    }

    const auto backward = [&](const std::optional<Quantizer>& by) {
        const NormParameters d_norm{at::ones_like(in.norm.weight_H), at::ones_like(in.norm.bias_H)};
        NormBackwardArguments of{in.d_normed_TH,
                                 is_post_ln ? in.d_residual_TH : at::Tensor(),
                                 is_post_ln ? at::Tensor() : in.d_sum_TH,
                                 plain,
                                 arguments.norm,
                                 arguments.dropout,
                                 batch.rows,
                                 at::kBFloat16,
                                 d_norm,
                                 at::ones_like(in.bias_H),
                                 by};
        return std::tuple{cuda::dropout_residual_norm_backward(of), of.d_norm.weight_H, of.d_norm.bias_H, of.d_bias_H, by};
    };
    const auto right = backward(std::nullopt);
    const auto ours = in_two_orders([&] { return backward(quantizer_of(at::kFloat8_e5m2)); });
    for (const auto& each : {ours.first, ours.second}) {
        CHECK_FALSE(std::get<0>(each).out_TH.defined());
        CHECK(same_bits(std::get<0>(each).sum_TH, std::get<0>(right).sum_TH));
        CHECK(same_bits(std::get<1>(each), std::get<1>(right)));
        CHECK(same_bits(std::get<2>(each), std::get<2>(right)));
        CHECK(same_bits(std::get<3>(each), std::get<3>(right)));
        check_rounded(std::get<0>(each).out_fp8, *std::get<4>(each), std::get<0>(right).out_TH);
    }
}

}  // namespace

TEST_CASE("on CUDA a norm rounds its output and the gradient of its input to fp8 as it computes them, to the bit", "[system]") {
    for (const at::ScalarType residual_dtype : {at::kFloat, at::kBFloat16})
        for (const auto& [T, H] : std::vector<std::pair<std::int64_t, std::int64_t>>{
                 {4, 4}, {16, 100}, {20, 256}, {36, 260}, {12, 768}, {132, 136}, {48, 1024}, {20, 1600}, {4, 4096}})
            for (const bool is_post_ln : {false, true})
                check_fp8(Inputs(T, H, at::kBFloat16, residual_dtype), ragged({T - 1, 1}),
                          is_post_ln ? NormKind::layer : NormKind::rms, is_post_ln);
    // Chunks of nine rows, which begin and end within words of the transpose.
    check_fp8(Inputs(8196, 8, at::kBFloat16), ragged({8196}), NormKind::layer, false);
}

TEST_CASE("on CUDA a norm keeps NaN in fp8, as the largest magnitude") {
    Inputs in(8, 64, at::kBFloat16);
    in.out_TH[3][5] = NAN;
    NormArguments arguments{in.out_TH, in.bias_H, in.residual_TH, in.norm, eps, {}, {}, at::kBFloat16};
    arguments.quantizer = quantizer_of(at::kFloat8_e4m3fn);
    const Fp8Operand operand = cuda::dropout_residual_norm(arguments).normed_fp8;
    CHECK(operand.rows_TC.to(at::kFloat).isnan().sum(1).ne(0).sum().item<std::int64_t>() == 1);
    CHECK(at::equal(operand.columns_CT.to(at::kFloat).isnan(), operand.rows_TC.to(at::kFloat).isnan().t()));
    CHECK(std::isnan(arguments.quantizer->largest_1.item<float>()));
}

TEST_CASE("on CUDA a norm leaves to others to round what it has no kernel for") {
    const auto is_left = [](const Inputs& in, const Ragged& batch, at::ScalarType compute_dtype, bool swapped) {
        const at::ScalarType forward_type = swapped ? at::kFloat8_e5m2 : at::kFloat8_e4m3fn,
                             backward_type = swapped ? at::kFloat8_e4m3fn : at::kFloat8_e5m2;
        NormArguments arguments{in.out_TH, in.bias_H,  in.residual_TH, in.norm, eps,
                                {},        batch.rows, compute_dtype,  false,   in.residual_dtype};
        arguments.quantizer = quantizer_of(forward_type);
        const NormResult normed = cuda::dropout_residual_norm(arguments);
        const NormParameters d_norm{at::ones_like(in.norm.weight_H), at::ones_like(in.norm.bias_H)};
        const NormGradients gradients = cuda::dropout_residual_norm_backward(
            {in.d_normed_TH, {}, {}, normed, in.norm, {}, batch.rows, compute_dtype, d_norm, {}, quantizer_of(backward_type)});
        return normed.normed_TH.defined() && !normed.normed_fp8.defined() && gradients.out_TH.defined() &&
               !gradients.out_fp8.defined();
    };
    CHECK(is_left(Inputs(5, 8, at::kBFloat16), ragged({5}), at::kBFloat16, false));
    CHECK(is_left(Inputs(8, 6, at::kBFloat16), ragged({8}), at::kBFloat16, false));
    CHECK(is_left(Inputs(8, 8, at::kFloat), ragged({8}), at::kFloat, false));
    CHECK(is_left(Inputs(8, 8, at::kBFloat16), ragged({8}), at::kBFloat16, true));
    CHECK_FALSE(is_left(Inputs(8, 8, at::kBFloat16), ragged({8}), at::kBFloat16, false));
}
