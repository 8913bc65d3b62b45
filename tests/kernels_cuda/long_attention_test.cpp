#include "kernels_cuda/own_attention_check.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using namespace bertpretrain::testing::own_attention;

namespace {

void check_long(const Case& what, bool has_bias = true) {
    Inputs in(what);
    if (!has_bias) in.bias_3H = at::Tensor();
    REQUIRE((kernels_of(in) == cuda::AttentionKernels::long_sequences));
    check_attention(in, Rounded::queries);
}

}  // namespace

TEST_CASE("long attention on CUDA equals the reference for sequences of any length", "[system]") {
    check_long({{300, 0, 1}, 1, 64, 0, 5});
    check_long({{129, 64, 65}, 1, 64, 0});
    check_long({{512}, 1, 64, 0, 1});
    check_long({{530}, 1, 32, 0.1});
}

TEST_CASE("long attention on CUDA equals the reference without a bias") {
    check_long({{150, 1, 20}, 1, 64, 0.1, 3}, /*has_bias=*/false);
}

TEST_CASE("long attention on CUDA drops what the reference drops, forward and backward", "[system]") {
    check_long({{257, 33}, 2, 64, 0.1, 3});
    check_long({{200}, 1, 32, 0.5});
}

TEST_CASE("long attention on CUDA takes heads of 32 and 64 features, and odd numbers of heads", "[system]") {
    check_long({{140, 19}, 3, 32, 0.1});
    check_long({{150}, 3, 64, 0.1, 2});
}

TEST_CASE("long attention on CUDA gives a sample the same bits in every batch", "[system]") { check_bits_in_batches(70, 200); }

TEST_CASE("long attention on CUDA follows the reference where a few scores are far above all others", "[system]") {
    for (const double dropout : {0.0, 0.3}) {
        Inputs in({{250}, 1, 64, dropout});
        in.qkv_T3H = in.qkv_T3H * 6;
        // Nearly all of a row's probability is one key's. Its gradient is then a small difference of two large numbers, one of
        // them from the rounded context.
        check_attention(in, Rounded::queries, /*backward_bound=*/2e-2);
    }
}

TEST_CASE("long attention on CUDA leaves longer sequences, other heads and fp32 to others") {
    const auto takes = [](const cuda::AttentionSize& size) {
        return cuda::own_attention_kernels(size) == cuda::AttentionKernels::long_sequences;
    };
    CHECK(takes({8192, 32, at::kBFloat16}));
    CHECK_FALSE(takes({8193, 32, at::kBFloat16}));
    CHECK_FALSE(takes({300, 128, at::kBFloat16}));
    CHECK_FALSE(takes({300, 64, at::kFloat}));
}
