#include "kernels_cuda/own_attention_check.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using namespace bertpretrain::testing::own_attention;

namespace {

void check_short(const Case& what, bool has_bias = true) {
    Inputs in(what);
    if (!has_bias) in.bias_3H = at::Tensor();
    REQUIRE((kernels_of(in) == cuda::AttentionKernels::short_sequences));
    check_attention(in, Rounded::all);
}

}  // namespace

TEST_CASE("short attention on CUDA equals the reference for sequences of any length up to 128", "[system]") {
    check_short({{128, 77, 0, 1, 50}, 1, 64, 0, 5});
    check_short({{15, 16, 17, 64, 65}, 1, 64, 0});
    check_short({{127, 2}, 1, 64, 0, 1});
}

TEST_CASE("short attention on CUDA equals the reference without a bias") {
    check_short({{90, 1, 20}, 2, 64, 0.1, 3}, /*has_bias=*/false);
}

TEST_CASE("short attention on CUDA drops what the reference drops, forward and backward", "[system]") {
    check_short({{128, 33}, 2, 64, 0.1, 3});
    check_short({{100}, 1, 32, 0.5});
}

TEST_CASE("short attention on CUDA takes heads of 32, 64 and 128 features, and odd numbers of heads") {
    check_short({{40, 19}, 3, 32, 0.1});
    check_short({{90}, 1, 128, 0.1, 2});
    check_short({{20}, 5, 64, 0.1});
}

TEST_CASE("short attention on CUDA within a window equals the reference", "[system]") {
    for (const std::int64_t window : {1, 15, 16, 63, 64, 126}) check_short({{128, 77, 0, 1, 64}, 1, 32, 0.1, 3, window});
    check_short({{128, 65}, 2, 64, 0, 0, 8});
    check_short({{100}, 1, 128, 0.1, 0, 20});
}

TEST_CASE("short attention on CUDA computes the same bits within a window that holds all of a sequence") {
    check_wide_window({{100, 20}, 1, 64, 0.1});
}

TEST_CASE("short attention on CUDA gives a sample the same bits in every batch") { check_bits_in_batches(70, 128); }

TEST_CASE("short attention on CUDA leaves longer sequences, other heads and fp32 to others") {
    const auto takes = [](const cuda::AttentionSize& size) {
        return cuda::own_attention_kernels(size) == cuda::AttentionKernels::short_sequences;
    };
    CHECK(takes({128, 64, at::kBFloat16}));
    CHECK_FALSE(takes({129, 64, at::kBFloat16}));
    CHECK_FALSE(takes({128, 48, at::kBFloat16}));
    CHECK_FALSE(takes({128, 64, at::kFloat}));
}
