#include "kernels_cuda/own_attention_check.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using namespace bertpretrain::testing::own_attention;

namespace {

/// Adds the addresses of the sectors that block `index` reads of a matrix of queries, keys and values, or of contexts.
void add_sectors(std::set<const void*>& sectors, const at::Tensor& matrix_TX, const Inputs& in, std::int64_t index) {
    constexpr std::int64_t elements = 16;
    const std::int64_t N = in.what.heads, D = in.what.head_size;
    const auto sequence = static_cast<std::size_t>(index / N);
    for (std::int64_t row = in.batch.layout.starts_B1[sequence]; row < in.batch.layout.starts_B1[sequence + 1]; ++row)
        for (std::int64_t part = 0; part < matrix_TX.size(1) / (N * D); ++part)
            for (std::int64_t column = 0; column < D; column += elements)
                sectors.insert(matrix_TX[row][part * N * D + index % N * D + column].const_data_ptr());
}

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

TEST_CASE("short attention on CUDA keeps one bit per probability, and the backward drops by those bits") {
    const Inputs in({{90, 1, 20}, 2, 64, 0.5, 3});
    const AttentionResult result = cuda::own_attention(in.qkv_T3H, in.bias_3H, in.shape());
    REQUIRE(result.kept_NGT4.sizes() == at::IntArrayRef{2, 1, 114, 4});
    const auto d_values = [&] {
        return cuda::own_attention_backward(in.d_context_TH, in.qkv_T3H, in.bias_3H, result, in.shape(), {})
            .qkv_T3H.narrow(1, 2 * 2 * 64, 2 * 64);
    };
    CHECK(d_values().ne(0).any().item<bool>());
    result.kept_NGT4.zero_();
    CHECK(d_values().eq(0).all().item<bool>());
}

TEST_CASE(
    "each block of short attention on CUDA brings to the cache what a later one reads, as far ahead as there are "
    "multiprocessors") {
    const std::int64_t head_size = GENERATE(32, 64, 128);
    const Inputs in({{20, 0, 33, 128}, 3, head_size, 0.1, 2});
    std::set<const void*> of_forward, of_backward;
    cuda_emulator::brought_to_cache.clear();
    const AttentionResult result = cuda::own_attention(in.qkv_T3H, in.bias_3H, in.shape());
    const std::set<const void*> by_forward = std::exchange(cuda_emulator::brought_to_cache, {});
    cuda::own_attention_backward(in.d_context_TH, in.qkv_T3H, in.bias_3H, result, in.shape(), {});
    constexpr std::int64_t blocks = 4 * 3;
    for (std::int64_t block = cuda_emulator::multiprocessors; block < blocks; ++block) {
        add_sectors(of_forward, in.qkv_T3H, in, block);
        add_sectors(of_backward, in.d_context_TH, in, block);
        add_sectors(of_backward, result.context_TH, in, block);
    }
    of_backward.insert(of_forward.begin(), of_forward.end());
    CHECK(by_forward == of_forward);
    CHECK(cuda_emulator::brought_to_cache == of_backward);
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
