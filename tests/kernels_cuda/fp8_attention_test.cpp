// The backward of attention whose result is rounded to fp8 as it is computed.
#include "kernels_cuda/own_attention_check.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using namespace bertpretrain::testing::own_attention;

namespace {

struct Backward {
    AttentionGradient d;
    at::Tensor d_bias_3H;
};

Backward backward_of(const Inputs& in, const AttentionResult& forward, const std::optional<Quantizer>& by) {
    Attention shape = in.shape();
    shape.quantizer = by;
    Backward result;
    if (in.bias_3H.defined()) result.d_bias_3H = at::ones_like(in.bias_3H);
    result.d = in.ours.backward(in.d_context_TH, in.qkv_T3H, in.bias_3H, forward, shape, result.d_bias_3H);
    return result;
}

void check_fp8(const Inputs& in) {
    CAPTURE(in.what.lengths, in.what.heads, in.what.head_size, in.what.window, in.bias_3H.defined());
    REQUIRE(in.qkv_T3H.size(0) % 4 == 0);
    const AttentionResult forward = in.ours.forward(in.qkv_T3H, in.bias_3H, in.shape());
    const Backward right = backward_of(in, forward, std::nullopt);
    const auto ours = in_two_orders([&] {
        const Quantizer by = quantizer_of(at::kFloat8_e5m2);
        return std::pair{backward_of(in, forward, by), by};
    });
    for (const auto& [backward, by] : {ours.first, ours.second}) {
        CHECK_FALSE(backward.d.qkv_T3H.defined());
        check_rounded(backward.d.qkv_fp8, by, right.d.qkv_T3H);
        if (in.bias_3H.defined()) CHECK(same_bits(backward.d_bias_3H, right.d_bias_3H));
    }
}

bool is_rounded(const Inputs& in, at::ScalarType type) {
    const AttentionResult forward = in.ours.forward(in.qkv_T3H, in.bias_3H, in.shape());
    const Backward backward = backward_of(in, forward, quantizer_of(type));
    CHECK(backward.d.qkv_T3H.defined() != backward.d.qkv_fp8.defined());
    return backward.d.qkv_fp8.defined();
}

constexpr Functions of_warpgroups{cuda::own_attention_of_warpgroups, cuda::own_attention_of_warpgroups_backward};

}  // namespace

TEST_CASE("short attention on CUDA rounds the gradient of qkv to fp8 as it computes it, to the bit", "[system]") {
    check_fp8(Inputs({{128, 128}, 2, 64, 0.1}));
    check_fp8(Inputs({{128, 77, 0, 1, 50, 15, 16, 17, 3}, 1, 64, 0.1, 5}));  // sequences begin within words of the transpose
    Inputs in({{20, 8}, 3, 64, 0});
    in.bias_3H = at::Tensor();
    check_fp8(in);
}

TEST_CASE("with 99 KiB of shared memory, short attention rounds to the same fp8 numbers", "[system]") {
    const cuda_emulator::SharedMemoryOf memory(99 * 1024);
    check_fp8(Inputs({{128, 77, 1, 50}, 1, 64, 0.1}));
}

TEST_CASE("long attention on CUDA rounds the gradient of qkv to fp8 as it computes it, to the bit", "[system]") {
    check_fp8(Inputs({{150, 1, 0, 130, 20}, 2, 32, 0.1, 3}));
    check_fp8(Inputs({{257, 33}, 1, 64, 0.1, 2}));
    check_fp8(Inputs({{140, 40}, 1, 64, 0, 0, /*window=*/20}));
    Inputs in({{150, 1, 21}, 2, 64, 0.1});
    in.rotate();
    check_fp8(in);
}

TEST_CASE("attention by warpgroups rounds the gradient of qkv to fp8 as it computes it, to the bit", "[system]") {
    check_fp8(Inputs({{150, 1, 0, 130, 20}, 2, 64, 0.1, 3}, of_warpgroups));
}

TEST_CASE("attention on CUDA leaves to others to round what its kernels cannot") {
    CHECK(is_rounded(Inputs({{20}, 1, 64, 0}), at::kFloat8_e5m2));
    CHECK_FALSE(is_rounded(Inputs({{20}, 1, 64, 0}), at::kFloat8_e4m3fn));
    CHECK_FALSE(is_rounded(Inputs({{21}, 1, 64, 0}), at::kFloat8_e5m2));
    CHECK_FALSE(is_rounded(Inputs({{20}, 1, 32, 0}), at::kFloat8_e5m2));
    CHECK_FALSE(is_rounded(Inputs({{20}, 1, 64, 0, 0, /*window=*/4}), at::kFloat8_e5m2));
    CHECK_FALSE(is_rounded(Inputs({{20}, 1, 48, 0}), at::kFloat8_e5m2));  // by the kernels for any head
    Inputs rotated({{20}, 1, 64, 0});
    rotated.rotate();
    CHECK_FALSE(is_rounded(rotated, at::kFloat8_e5m2));
}
