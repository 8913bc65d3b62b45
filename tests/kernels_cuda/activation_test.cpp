#include "kernels/cuda/bias_rows.h"
#include "kernels/cuda/column_sums.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tensors.h"
#include "kernels_cuda/cuda_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

struct Results {
    at::Tensor y_TF, dx_TF, d_bias_F;
};

Results run(decltype(&reference::bias_activation) forward, decltype(&reference::bias_activation_backward) backward,
            const at::Tensor& x_TF, const at::Tensor& dy_TF, const at::Tensor& bias_F, Activation activation) {
    Results results{forward(x_TF, bias_F, activation), {}, {}};
    if (bias_F.defined()) results.d_bias_F = at::ones_like(bias_F);
    results.dx_TF = backward(dy_TF, x_TF, bias_F, activation, results.d_bias_F);
    return results;
}

void check(const at::Tensor& x_TF, const at::Tensor& dy_TF, const at::Tensor& bias_F, Activation activation) {
    CAPTURE(x_TF.scalar_type(), x_TF.size(0), x_TF.size(1), static_cast<int>(activation), bias_F.defined());
    const auto ours = in_two_orders(
        [&] { return run(cuda::bias_activation, cuda::bias_activation_backward, x_TF, dy_TF, bias_F, activation); });
    const Results right = run(reference::bias_activation, reference::bias_activation_backward, x_TF, dy_TF, bias_F, activation);
    CHECK(ours.first.y_TF.scalar_type() == x_TF.scalar_type());
    CHECK(ours.first.dx_TF.scalar_type() == x_TF.scalar_type());
    CHECK_ROUNDED(ours.first.y_TF, right.y_TF);
    CHECK_ROUNDED(ours.first.dx_TF, right.dx_TF);
    CHECK_SAME_BITS(ours, y_TF);
    CHECK_SAME_BITS(ours, dx_TF);
    if (!bias_F.defined()) return;
    CHECK_ROUNDED(ours.first.d_bias_F, right.d_bias_F);
    CHECK_SAME_BITS(ours, d_bias_F);
}

}  // namespace

TEST_CASE("bias + GELU on CUDA equals the reference at every width, forward and backward", "[system]") {
    for (const Activation activation : {Activation::gelu_erf, Activation::gelu_tanh})
        for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
            for (const std::int64_t T : {1, 19})
                for (const std::int64_t F : {1, 7, 100, 1024, 3072, 4100}) {
                    RandomTensors random(static_cast<std::uint64_t>(F));
                    check(random.normal({T, F}, compute_dtype), random.normal({T, F}, compute_dtype), random.normal({F}),
                          activation);
                }
}

TEST_CASE("GELU on CUDA equals the reference without a bias, forward and backward") {
    for (const Activation activation : {Activation::gelu_erf, Activation::gelu_tanh, Activation::silu}) {
        RandomTensors random(4);
        check(random.normal({19, 100}, at::kBFloat16), random.normal({19, 100}, at::kBFloat16), {}, activation);
    }
}

TEST_CASE("gated activations on CUDA equal the reference at every width, aligned or not, forward and backward") {
    for (const Activation activation : {Activation::gelu_erf, Activation::gelu_tanh, Activation::silu})
        for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
            for (const std::int64_t F : {1, 7, 100, 1152}) {
                CAPTURE(static_cast<int>(activation), compute_dtype, F);
                RandomTensors random(static_cast<std::uint64_t>(F));
                const at::Tensor x_T2F = random.normal({19, 2 * F}, compute_dtype), dy_TF = random.normal({19, F}, compute_dtype);
                for (const at::Tensor& x : {x_T2F, unaligned(x_T2F)}) {
                    CHECK_ROUNDED(cuda::gated_activation(x, activation), reference::gated_activation(x, activation));
                    CHECK_ROUNDED(cuda::gated_activation_backward(dy_TF, x, activation),
                                  reference::gated_activation_backward(dy_TF, x, activation));
                }
            }
}

TEST_CASE("queries and keys are rotated on CUDA as by the reference, aligned or not, forward and inverse") {
    for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16})
        for (const std::int64_t D : {2, 10, 64})
            for (const bool inverse : {false, true}) {
                CAPTURE(compute_dtype, D, inverse);
                RandomTensors random(static_cast<std::uint64_t>(D));
                const std::int64_t T = 19, N = 5;
                const at::Tensor qkv_T3H = random.normal({T, 3 * N * D}, compute_dtype), positions_T = random.below(30, T);
                const Rotary rotary{random.normal({30, D}), N, inverse};
                at::Tensor ours = qkv_T3H.clone(), moved = unaligned(qkv_T3H), right = qkv_T3H.clone();
                cuda::rotate(ours, positions_T, rotary);
                cuda::rotate(moved, positions_T, rotary);
                reference::rotate(right, positions_T, rotary);
                CHECK_ROUNDED(ours, right);
                CHECK_ROUNDED(moved, right);
            }
}

TEST_CASE("bias + GELU on CUDA accepts unaligned tensors") {
    RandomTensors random(5);
    const at::Tensor x_TF = unaligned(random.normal({9, 1024}, at::kBFloat16)), dy_TF = random.normal({9, 1024}, at::kBFloat16);
    check(x_TF, dy_TF, random.normal({1024}), Activation::gelu_erf);
}

TEST_CASE("GELU on CUDA is 0 far below zero and the number itself far above, with slopes 0 and 1") {
    const at::Tensor x_TF = at::arange(4, at::TensorOptions(at::kFloat)).sub_(1.5).mul_(40).view({1, 4}), zero_F = at::zeros({4});
    for (const Activation activation : {Activation::gelu_erf, Activation::gelu_tanh}) {
        const Results results =
            run(cuda::bias_activation, cuda::bias_activation_backward, x_TF, at::ones_like(x_TF), zero_F, activation);
        CHECK(at::equal(results.y_TF, x_TF.clamp_min(0)));
        CHECK(at::equal(results.dx_TF, x_TF.gt(0).to(at::kFloat)));
    }
}

TEST_CASE("on CUDA the bias of q, k and v is added, and its gradient computed except for the key's third") {
    const std::int64_t T = 37, H = 100;
    RandomTensors random(6);
    const at::Tensor x_T3H = random.normal({T, 3 * H}, at::kBFloat16), bias_3H = random.normal({3 * H});
    const at::Tensor y_T3H = at::empty_like(x_T3H);
    cuda::bias_forward<cuda::Bf16>(
        {T, 3 * H, cuda::compute_data<cuda::Bf16>(x_T3H), cuda::fp32_data(bias_3H), cuda::compute_data<cuda::Bf16>(y_T3H)},
        cuda::RowFunction::identity, true, nullptr);
    CHECK(same_bits(y_T3H, (x_T3H.to(at::kFloat) + bias_3H).to(at::kBFloat16)));

    const at::Tensor chunk_sums_C3H = at::empty({cuda::row_chunks(T), 3 * H}), d_bias_3H = at::ones({3 * H});
    cuda::bias_backward<cuda::Bf16>(
        {T, 3 * H, cuda::compute_data<cuda::Bf16>(x_T3H), nullptr, nullptr, nullptr, cuda::fp32_data(chunk_sums_C3H)},
        cuda::RowFunction::identity, true, nullptr);
    float* const d_bias = cuda::fp32_data(d_bias_3H);
    cuda::add_column_sums({cuda::fp32_data(chunk_sums_C3H), cuda::row_chunks(T), 3, H, {d_bias, nullptr, d_bias + 2 * H}},
                          nullptr);
    at::Tensor expected_3H = 1 + x_T3H.to(at::kFloat).sum(0);
    expected_3H.narrow(0, H, H).fill_(1);
    CHECK_ROUNDED(d_bias_3H, expected_3H);
}
