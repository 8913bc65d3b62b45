#include "kernels/kernel_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

struct Results {
    at::Tensor d_logits_MV, d_bias_V, totals_2;
};

Results run(const Operations& operations, const at::Tensor& logits_MV, const at::Tensor& bias_V, const at::Tensor& labels_M,
            double scale, const at::Tensor& d_bias_before_V) {
    Results results{logits_MV.clone(), d_bias_before_V.clone(), at::full({2}, 10.0, at::kDouble)};
    operations.softmax_cross_entropy(results.d_logits_MV, bias_V, labels_M, scale, results.d_bias_V, results.totals_2);
    return results;
}

}  // namespace

TEST_CASE("softmax cross entropy and its gradient equal autograd") {
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const std::int64_t V : {2, 101, 1000})
            for (const std::int64_t M : {1, 2, 75}) {
                RandomTensors random(static_cast<std::uint64_t>(V + M));
                const at::Tensor logits_MV = (random.normal({M, V}) * 3).to(compute_dtype), bias_V = random.normal({V});
                const at::Tensor labels_M = random.below(V, M), before_V = random.normal({V});
                const double scale = 1.0 / 150;
                const at::Tensor logits = leaf(logits_MV), bias = leaf(bias_V);
                const at::Tensor loss = at::cross_entropy_loss(logits + bias, labels_M, {}, at::Reduction::Sum);
                (loss * scale).backward();
                const double correct = (logits + bias).argmax(1).eq(labels_M).sum().item<double>();
                for (const Operations& operations : both_implementations) {
                    CAPTURE(operations.name, compute_dtype, V, M);
                    const Results results = run(operations, logits_MV, bias_V, labels_M, scale, before_V);
                    CHECK(results.d_logits_MV.scalar_type() == compute_dtype);
                    CHECK_ROUNDED(results.d_logits_MV, logits.grad());
                    CHECK_ROUNDED(results.d_bias_V, bias.grad() + before_V);
                    CHECK(results.totals_2[0].item<double>() - 10 == Approx(loss.item<double>()).epsilon(1e-6));
                    CHECK(results.totals_2[1].item<double>() == 10 + correct);
                }
            }
}

TEST_CASE("cross entropy stays right if one logit outweighs all others") {
    const at::Tensor logits_MV = at::zeros({2, 101}), labels_M = at::full({2}, 7, at::TensorOptions(at::kLong));
    logits_MV[0][7] = 1e4;  // certain and right
    logits_MV[1][8] = 1e4;  // certain and wrong
    for (const Operations& operations : both_implementations) {
        CAPTURE(operations.name);
        const Results results = run(operations, logits_MV, at::zeros({101}), labels_M, 1, at::zeros({101}));
        CHECK(results.totals_2[0].item<double>() == Approx(10 + 1e4));
        CHECK(results.totals_2[1].item<double>() == 11);
        CHECK(results.d_logits_MV[0].abs().max().item<double>() < 1e-30);
        CHECK(results.d_logits_MV[1][7].item<double>() == Approx(-1));
        CHECK(results.d_logits_MV[1][8].item<double>() == Approx(1));
    }
}

TEST_CASE("a NaN in a row of logits makes the loss NaN") {
    const at::Tensor logits_MV = at::zeros({1, 101}), labels_M = at::zeros({1}, at::TensorOptions(at::kLong));
    logits_MV[0][50] = std::nan("");
    for (const Operations& operations : both_implementations) {
        CAPTURE(operations.name);
        CHECK(std::isnan(run(operations, logits_MV, at::zeros({101}), labels_M, 1, at::zeros({101})).totals_2[0].item<double>()));
    }
}

TEST_CASE("a row with label -1 has no loss and no gradient") {
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const Operations& operations : both_implementations) {
            CAPTURE(operations.name, compute_dtype);
            RandomTensors random(4);
            const at::Tensor logits_MV = random.normal({3, 101}, compute_dtype), bias_V = random.normal({101}),
                             before_V = random.normal({101});
            const at::Tensor labels_M = at::tensor({7, 8, -1}, at::kLong);
            const Results all = run(operations, logits_MV, bias_V, labels_M, 0.5, before_V);
            const Results real = run(operations, logits_MV.narrow(0, 0, 2), bias_V, labels_M.narrow(0, 0, 2), 0.5, before_V);
            CHECK(all.d_logits_MV[2].eq(0).all().item<bool>());
            CHECK(same_bits(all.d_logits_MV.narrow(0, 0, 2), real.d_logits_MV));
            CHECK(relative_error(all.d_bias_V, real.d_bias_V) < 1e-7);
            CHECK(relative_error(all.totals_2, real.totals_2) < 1e-12);
        }
}
