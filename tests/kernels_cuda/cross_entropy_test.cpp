#include "kernels_cuda/cuda_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

struct Results {
    at::Tensor d_logits_MV, d_bias_V, totals_2;
};

Results run(decltype(&reference::softmax_cross_entropy) operation, const at::Tensor& logits_MV, const at::Tensor& bias_V,
            const at::Tensor& labels_M) {
    Results results{logits_MV.clone(), at::ones_like(bias_V), at::ones({2}, at::kDouble)};
    operation(results.d_logits_MV, bias_V, labels_M, 0.125, results.d_bias_V, results.totals_2);
    return results;
}

void check(const at::Tensor& logits_MV, const at::Tensor& bias_V, const at::Tensor& labels_M) {
    CAPTURE(logits_MV.scalar_type(), logits_MV.size(0), logits_MV.size(1));
    const auto ours = in_two_orders([&] { return run(cuda::softmax_cross_entropy, logits_MV, bias_V, labels_M); });
    const Results right = run(reference::softmax_cross_entropy, logits_MV, bias_V, labels_M);
    CHECK_ROUNDED(ours.first.d_logits_MV, right.d_logits_MV);
    CHECK_ROUNDED(ours.first.d_bias_V, right.d_bias_V);
    const double* totals = ours.first.totals_2.const_data_ptr<double>();
    CHECK(totals[0] == Approx(right.totals_2[0].item<double>()).epsilon(1e-6));
    CHECK(totals[1] == right.totals_2[1].item<double>());
    CHECK_SAME_BITS(ours, d_logits_MV);
    CHECK_SAME_BITS(ours, d_bias_V);
    CHECK_SAME_BITS(ours, totals_2);
}

/// Labels: every fourth is absent, and every third is the row's largest logit.
at::Tensor labels_for(const at::Tensor& logits_MV, const at::Tensor& bias_V, RandomTensors& random) {
    const std::int64_t M = logits_MV.size(0);
    const at::Tensor labels_M = random.below(logits_MV.size(1), M);
    const at::Tensor largest_M = (logits_MV.to(at::kFloat) + bias_V).argmax(1);
    for (std::int64_t m = 0; m < M; ++m) {
        if (m % 3 == 0) labels_M[m] = largest_M[m];
        if (m % 4 == 3) labels_M[m] = -1;
    }
    return labels_M;
}

}  // namespace

TEST_CASE("softmax cross entropy on CUDA equals the reference, gradients and totals", "[system]") {
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const std::int64_t V : {2, 7, 100, 1030, 5000}) {
            RandomTensors random(static_cast<std::uint64_t>(V));
            const at::Tensor logits_MV = random.normal({13, V}, compute_dtype).mul_(4), bias_V = random.normal({V});
            check(logits_MV, bias_V, labels_for(logits_MV, bias_V, random));
        }
}

TEST_CASE("softmax cross entropy on CUDA takes BERT's vocabulary, and one row", "[system]") {
    RandomTensors random(3);
    const at::Tensor logits_MV = random.normal({3, 30528}, at::kBFloat16), bias_V = random.normal({30528});
    check(logits_MV, bias_V, labels_for(logits_MV, bias_V, random));
    check(logits_MV.narrow(0, 0, 1).clone(), bias_V, at::zeros({1}, at::kLong));
}

TEST_CASE("softmax cross entropy on CUDA stays exact for large logits, and if one outweighs all others") {
    const at::Tensor logits_MV = RandomTensors(4).normal({2, 300}).mul_(3).add_(500), bias_V = at::zeros({300});
    logits_MV[1][17] = 900;
    check(logits_MV, bias_V, at::full({2}, 17, at::kLong));
}

TEST_CASE("a NaN logit makes the loss NaN on CUDA") {
    const at::Tensor logits_MV = at::zeros({1, 300});
    logits_MV[0][299] = std::nan("");
    CHECK(run(cuda::softmax_cross_entropy, logits_MV, at::zeros({300}), at::zeros({1}, at::kLong))
              .totals_2[0]
              .isnan()
              .item<bool>());
}

TEST_CASE("a batch without masked positions has no loss and no gradient on CUDA") {
    const Results none = run(cuda::softmax_cross_entropy, at::zeros({0, 100}), at::zeros({100}), at::zeros({0}, at::kLong));
    CHECK(at::equal(none.totals_2, at::ones({2}, at::kDouble)));  // as before
    CHECK(at::equal(none.d_bias_V, at::ones({100})));
}
