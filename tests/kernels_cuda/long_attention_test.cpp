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

TEST_CASE("attention on CUDA rotates the gradients of rotated queries and keys back, in every kernel", "[system]") {
    const Case what = GENERATE(Case{{150, 1, 20}, 2, 64, 0.1, 3}, Case{{140, 19}, 3, 32, 0, 0, 20}, Case{{77, 5}, 2, 64, 0, 2},
                               Case{{140, 3}, 2, 16, 0.1, 1});
    Inputs in(what);
    in.rotate();
    check_attention(in, Rounded::queries);
}

TEST_CASE("long attention on CUDA drops what the reference drops, forward and backward", "[system]") {
    check_long({{257, 33}, 2, 64, 0.1, 3});
    check_long({{200}, 1, 32, 0.5});
}

TEST_CASE("long attention on CUDA takes heads of 32 and 64 features, and odd numbers of heads", "[system]") {
    check_long({{140, 19}, 3, 32, 0.1});
    check_long({{150}, 3, 64, 0.1, 2});
}

TEST_CASE("long attention on CUDA within a window equals the reference, for windows around the blocks' ends", "[system]") {
    const std::int64_t window = GENERATE(1, 15, 16, 17, 63, 64, 65, 100, 126, 127);
    check_long({{129, 1, 63, 64, 65, 127, 128}, 1, 32, 0.1, 3, window});
}

TEST_CASE("long attention on CUDA within a window equals the reference for sequences of any length", "[system]") {
    check_long({{300, 0, 1}, 1, 64, 0, 5, 64});
    check_long({{513, 200}, 1, 64, 0.1, 0, 8});
    check_long({{512}, 1, 32, 0.3, 0, 130});
    check_long({{300}, 1, 64, 0.1, 0, 298});  // only the two corners are outside
}

TEST_CASE("long attention on CUDA within a window equals the reference for 1,024 tokens", "[system]") {
    check_long({{1024}, 1, 32, 0.1, 0, 64});
}

TEST_CASE("long attention on CUDA within a window follows the reference where a few scores are far above all others",
          "[system]") {
    Inputs in({{250}, 1, 64, 0.3, 0, 20});
    in.qkv_T3H = in.qkv_T3H * 6;
    check_attention(in, Rounded::queries, /*backward_bound=*/2e-2);
}

TEST_CASE("long attention on CUDA computes the same bits within a window that holds all of a sequence", "[system]") {
    check_wide_window({{140, 20}, 1, 64, 0.1});
}

TEST_CASE("long attention on CUDA keeps dropout masks of the keys around a query only", "[system]") {
    const auto kept_groups = [](std::int64_t window) {
        const Inputs in({{700, 3}, 1, 32, 0.1, 0, window});
        return cuda::own_attention(in.qkv_T3H, in.bias_3H, in.shape()).kept_NGT4.size(1);
    };
    CHECK(kept_groups(0) == 6);
    CHECK(kept_groups(64) == 3);
    CHECK(kept_groups(128) == 3);
    CHECK(kept_groups(129) == 5);
    CHECK(kept_groups(300) == 6);
}

TEST_CASE("one long sequence among many short ones starts one block per tile and head, and equals the reference", "[system]") {
    std::vector<std::int64_t> lengths(151, 10);
    lengths[75] = 1024;
    constexpr std::uint64_t heads = 2, short_ones = 150, wide = 1024 / 128 + short_ones, narrow = 1024 / 64 + short_ones;
    const auto [window, of_forward] = GENERATE_COPY(table<std::int64_t, std::uint64_t>({{0, wide}, {16, narrow}}));
    Inputs in({lengths, heads, 32, 0.1, 0, window});
    in.bias_3H = at::Tensor();  // or its gradient's sums would be counted
    cuda_emulator::blocks_run = 0;
    const AttentionResult forward = cuda::own_attention(in.qkv_T3H, in.bias_3H, in.shape());
    CHECK(cuda_emulator::blocks_run == of_forward * heads);
    cuda_emulator::blocks_run = 0;
    const at::Tensor d_qkv_T3H =
        cuda::own_attention_backward(in.d_context_TH, in.qkv_T3H, in.bias_3H, forward, in.shape(), /*d_bias_3H=*/{}).qkv_T3H;
    CHECK(cuda_emulator::blocks_run == (wide + narrow) * heads);
    const Results expected = right(in, Rounded::queries);
    CHECK(relative_error(forward.context_TH, expected.context_TH) < forward_bound);
    CHECK(relative_error(d_qkv_T3H, expected.d_qkv_T3H) < 6e-3);
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
