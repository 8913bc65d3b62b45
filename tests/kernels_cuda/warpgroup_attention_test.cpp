#include "kernels_cuda/own_attention_check.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using namespace bertpretrain::testing::own_attention;

namespace {

constexpr Functions of_warpgroups{cuda::own_attention_of_warpgroups, cuda::own_attention_of_warpgroups_backward};

void check_warpgroups(const Case& what, bool has_bias = true) {
    Inputs in(what, of_warpgroups);
    if (!has_bias) in.bias_3H = at::Tensor();
    REQUIRE((kernels_of(in) == cuda::AttentionKernels::long_sequences));
    check_attention(in, Rounded::queries);
}

/// Checks that both ways compute the same bits, which only the same kernels do.
void check_same_kernels(const Case& what) {
    const Results plain = ours(Inputs(what)), by_warpgroups = ours(Inputs(what, of_warpgroups));
    CHECK(same_bits(plain.context_TH, by_warpgroups.context_TH));
    CHECK(same_bits(plain.d_qkv_T3H, by_warpgroups.d_qkv_T3H));
}

}  // namespace

TEST_CASE("attention by warpgroups equals the reference for sequences of any length", "[system]") {
    check_warpgroups({{300, 0, 1}, 1, 64, 0, 5});
    check_warpgroups({{129, 64, 65, 63, 127, 128}, 1, 64, 0});
    check_warpgroups({{512}, 1, 64, 0, 1});
    check_warpgroups({{150, 1, 20}, 3, 64, 0, 3});
}

TEST_CASE("attention by warpgroups equals the reference for 1,024 tokens", "[system]") { check_warpgroups({{1024}, 1, 64, 0.1}); }

TEST_CASE("attention by warpgroups equals the reference without a bias", "[system]") {
    check_warpgroups({{150, 1, 20}, 1, 64, 0.1, 3}, /*has_bias=*/false);
}

TEST_CASE("attention by warpgroups drops what the reference drops, forward and backward", "[system]") {
    check_warpgroups({{257, 33}, 2, 64, 0.1, 3});
    check_warpgroups({{200}, 1, 64, 0.5});
}

TEST_CASE("attention by warpgroups rotates the gradients of rotated queries and keys back", "[system]") {
    Inputs in({{150, 1, 20}, 2, 64, 0.1, 3}, of_warpgroups);
    in.rotate();
    check_attention(in, Rounded::queries);
}

TEST_CASE("attention by warpgroups follows the reference where a few scores are far above all others", "[system]") {
    for (const double dropout : {0.0, 0.3}) {
        Inputs in({{250}, 1, 64, dropout}, of_warpgroups);
        in.qkv_T3H = in.qkv_T3H * 6;
        check_attention(in, Rounded::queries, /*backward_bound=*/2e-2);
    }
}

TEST_CASE("attention by warpgroups gives a sample the same bits in every batch", "[system]") {
    check_bits_in_batches(70, 200, of_warpgroups);
}

TEST_CASE("the forward of attention by warpgroups fits the backward by warps, and the other way round", "[system]") {
    const Functions by = GENERATE(Functions{cuda::own_attention_of_warpgroups, cuda::own_attention_backward},
                                  Functions{cuda::own_attention, cuda::own_attention_of_warpgroups_backward});
    check_attention(Inputs({{140, 70}, 1, 64, 0.2}, by), Rounded::queries);
}

TEST_CASE("attention by warpgroups leaves other heads, windows and short sequences to others") {
    check_same_kernels({{140}, 1, 32, 0.1});
    check_same_kernels({{140}, 1, 64, 0.1, 0, 20});
    check_same_kernels({{100}, 1, 64, 0.1});
}

TEST_CASE("attention by warpgroups refuses a GPU without their instructions, by name") {
    const Inputs in({{140}, 1, 64, 0}, of_warpgroups);
    for (const int other : {80, 89, 100, 120}) {
        const cuda_emulator::CapabilityOf device(other);
        CHECK_THROWS_WITH(ours(in), Catch::Contains("compute capability 9.0"));
    }
}
