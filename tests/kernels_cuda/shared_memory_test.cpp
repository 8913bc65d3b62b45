// Attention on GPUs with different amounts of shared memory per block: 99 KiB (GeForce RTX 30 to 50, A10, L4, L40S), 163 KiB
// (A100) and 227 KiB (H100, B200).
#include "kernels_cuda/own_attention_check.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using namespace bertpretrain::testing::own_attention;
using cuda::AttentionKernels;
using cuda_emulator::SharedMemoryOf;

namespace {

constexpr int KiB = 1024;
constexpr auto bf16 = at::kBFloat16, fp32 = at::kFloat;

AttentionKernels chosen(int shared_kib, const cuda::AttentionSize& size) {
    const SharedMemoryOf memory(shared_kib * KiB);
    return cuda::attention_kernels(size);
}

/// Compares attention with the reference on a device with this much shared memory. @returns the kernels that computed it
AttentionKernels check_on(int shared_kib, const Case& what, at::ScalarType compute_dtype = bf16) {
    CAPTURE(shared_kib, compute_dtype);
    const SharedMemoryOf memory(shared_kib * KiB);
    Inputs in(what);
    in.qkv_T3H = in.qkv_T3H.to(compute_dtype), in.d_context_TH = in.d_context_TH.to(compute_dtype);
    const AttentionKernels kernels = kernels_of(in);
    if (kernels == AttentionKernels::reference) return kernels;
    const Rounded rounded = kernels == AttentionKernels::short_sequences  ? Rounded::all
                            : kernels == AttentionKernels::long_sequences ? Rounded::queries
                                                                          : Rounded::none;
    check_attention(in, rounded, kernels == AttentionKernels::any ? 1e-2 : 6e-3);
    return kernels;
}

/// Around the sizes of tiles and parts.
const Case of_short(std::int64_t head_size) { return {{1, 63, 64, 65, 127, 128}, 1, head_size, 0.1, 2}; }

}  // namespace

TEST_CASE("with 99 KiB of shared memory, attention of up to 128 tokens is ours and equals the reference for heads of 32 and 64") {
    const std::int64_t head_size = GENERATE(32, 64);
    CHECK((check_on(99, of_short(head_size)) == AttentionKernels::short_sequences));
}

TEST_CASE("with 163 KiB of shared memory, attention of up to 128 tokens is ours and equals the reference for heads up to 128",
          "[system]") {
    const std::int64_t head_size = GENERATE(32, 64, 128);
    CHECK((check_on(163, of_short(head_size)) == AttentionKernels::short_sequences));
}

TEST_CASE("with any shared memory, long attention equals the reference", "[system]") {
    const int shared_kib = GENERATE(99, 163, 227);
    CHECK((check_on(shared_kib, {{129, 1, 65}, 1, 64, 0.1}) == AttentionKernels::long_sequences));
    CHECK((check_on(shared_kib, {{63, 129}, 1, 32, 0.1}) == AttentionKernels::long_sequences));
}

TEST_CASE("with little shared memory, attention of 512 tokens equals the reference", "[system]") {
    const auto [shared_kib, head_size] = GENERATE(std::pair(99, 64), std::pair(163, 32));
    CHECK((check_on(shared_kib, {{512}, 1, head_size, 0.1}) == AttentionKernels::long_sequences));
}

TEST_CASE("with 99 KiB of shared memory, attention of 1,024 tokens equals the reference", "[system]") {
    CHECK((check_on(99, {{1024}, 1, 32, 0.1}) == AttentionKernels::long_sequences));
}

TEST_CASE("fp32 attention and heads of unusual sizes equal the reference as far as shared memory goes", "[system]") {
    CHECK((check_on(99, {{1, 63, 65}, 1, 48, 0.1}) == AttentionKernels::any));
    CHECK((check_on(99, {{64, 1}, 1, 80, 0.1}, fp32) == AttentionKernels::any));
    CHECK((check_on(163, {{65, 63}, 1, 256, 0.1}, fp32) == AttentionKernels::any));
    CHECK((check_on(99, {{33}, 1, 128, 0.1}) == AttentionKernels::any));  // in the program, flash attention
}

TEST_CASE("the backward of short attention computes the same bits with little shared memory as with much", "[system]") {
    const auto [head_size, little] = GENERATE(std::pair(64, 99), std::pair(128, 163));
    const Inputs in({{128, 77, 0, 1, 50}, 1, head_size, 0.1, 3});
    const Results much = ours(in);
    const SharedMemoryOf memory(little * KiB);
    const Results with_little = ours(in);
    CHECK(same_bits(much.context_TH, with_little.context_TH));
    CHECK(same_bits(much.d_qkv_T3H, with_little.d_qkv_T3H));
    CHECK(same_bits(much.d_bias_3H, with_little.d_bias_3H));
}

TEST_CASE("attention's kernels, and with them the origin of dropout masks, follow from the device's shared memory") {
    for (const std::int64_t length : {1, 63, 64, 65, 127, 128}) {
        for (const int shared_kib : {99, 163, 227})
            for (const std::int64_t head_size : {32, 64})
                CHECK((chosen(shared_kib, {length, head_size, bf16}) == AttentionKernels::short_sequences));
        CHECK((chosen(99, {length, 128, bf16}) == AttentionKernels::flash));
        CHECK((chosen(163, {length, 128, bf16}) == AttentionKernels::short_sequences));
        CHECK((chosen(227, {length, 128, bf16}) == AttentionKernels::short_sequences));
    }
    for (const std::int64_t length : {129, 512, 1024})
        for (const int shared_kib : {99, 163, 227}) {
            CHECK((chosen(shared_kib, {length, 64, bf16}) == AttentionKernels::long_sequences));
            CHECK((chosen(shared_kib, {length, 128, bf16}) == AttentionKernels::flash));
        }
    CHECK((chosen(99, {640, 64, fp32}) == AttentionKernels::any));
    CHECK((chosen(99, {641, 64, fp32}) == AttentionKernels::reference));
    CHECK((chosen(163, {1024, 64, fp32}) == AttentionKernels::any));
    CHECK((chosen(99, {64, 256, fp32}) == AttentionKernels::reference));
    CHECK(cuda::counts_dropout(AttentionKernels::reference));
    CHECK_FALSE(cuda::counts_dropout(AttentionKernels::flash));
}
