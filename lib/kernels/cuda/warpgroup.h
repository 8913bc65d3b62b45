#pragma once
// The matrix instructions of Hopper (compute capability 9.0), one function each: the 64 x 64 by 64 x 16 bf16 matmuls of a
// warpgroup, four warps of which each has 16 rows. They read shared memory themselves and run while their threads go on. The
// emulator of the tests implements the same functions.
//
// A warp's sums and its operand A in registers are laid out as those of tensor_cores.h. A matrix in shared memory has rows of 64
// bf16, 128 bytes, whose eight pieces of 16 bytes are exchanged: piece p of row r lies where piece p ^ r % 8 would (the PTX ISA's
// 128-byte swizzle). So its rows and its columns are read without bank conflicts. It must be aligned to 1,024 bytes.
//
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions".

#include "kernels/cuda/tensor_cores.h"

namespace bertpretrain::cuda {

constexpr int warpgroup_threads = 128, warpgroup_rows = 64, warpgroup_columns = 64;
/// Tiles of 8 columns: the length of a warp's sums.
constexpr int warpgroup_tiles = warpgroup_columns / 8;
constexpr std::size_t swizzle_alignment = 1024;

/// Where elements of a matrix of such rows lie.
struct SwizzledRows {
    static constexpr int pitch = warpgroup_columns;
    static constexpr std::size_t alignment = swizzle_alignment;

    __device__ static int at(int row, int column) { return row * pitch + ((column / 8 ^ row % 8) * 8 | column % 8); }
};

/// Number of the warpgroup within its block.
__device__ __forceinline__ int warpgroup() { return static_cast<int>(threadIdx.x) / warpgroup_threads; }

/// Returns dynamic shared memory aligned for swizzled rows; a launch must ask for swizzle_alignment bytes more.
__device__ __forceinline__ void* aligned_shared_memory() {
    auto* const memory = static_cast<unsigned char*>(dynamic_shared_memory());
    return memory + (swizzle_alignment - reinterpret_cast<std::uintptr_t>(memory) % swizzle_alignment) % swizzle_alignment;
}

/// The PTX ISA's "matrix descriptor" of 64 columns of swizzled rows, of which groups of eight are 1,024 bytes apart.
/// @param at  the first element of the operand; the first row must be a multiple of 8
__device__ __forceinline__ std::uint64_t descriptor_of(const Bf16* at) {
#ifdef __CUDACC__
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(at));
#else
    const unsigned address = cuda_emulator::shared_address(at);
#endif
    constexpr std::uint64_t swizzle_of_128_bytes = std::uint64_t{1} << 62, unused = std::uint64_t{1} << 16,
                            between_groups = std::uint64_t{swizzle_alignment / 16} << 32;
    return swizzle_of_128_bytes | between_groups | unused | (address & 0x3FFFFU) >> 4;
}

#ifdef __CUDACC__

/// Must precede the first matmul after other instructions have written its sums or its operand A.
__device__ __forceinline__ void begin_matmuls() { asm volatile("wgmma.fence.sync.aligned;" : : : "memory"); }
/// Must follow this thread's writes to shared memory, and precede the barrier after which matmuls read them.
__device__ __forceinline__ void show_to_matmuls() { asm volatile("fence.proxy.async.shared::cta;" : : : "memory"); }
/// Waits for all matmuls of this warp. Their sums must be passed to keep_order() before they are read.
__device__ __forceinline__ void wait_for_matmuls() { asm volatile("wgmma.wait_group.sync.aligned 0;" : : : "memory"); }
/// Must follow the last matmul before wait_for_matmuls().
__device__ __forceinline__ void commit_matmuls() { asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory"); }

/// Keeps the compiler from moving what reads or writes the sums across this line.
__device__ __forceinline__ void keep_order(Sums (&sums)[warpgroup_tiles]) {
#pragma unroll
    for (int t = 0; t < warpgroup_tiles; ++t)
#pragma unroll
        for (int i = 0; i < 4; ++i) asm volatile("" : "+f"(sums[t].at[i]) : : "memory");
}

#define BERTPRETRAIN_FOUR_SUMS(t) "+f"(s[t].at[0]), "+f"(s[t].at[1]), "+f"(s[t].at[2]), "+f"(s[t].at[3])
#define BERTPRETRAIN_ALL_SUMS                                                                                   \
    BERTPRETRAIN_FOUR_SUMS(0), BERTPRETRAIN_FOUR_SUMS(1), BERTPRETRAIN_FOUR_SUMS(2), BERTPRETRAIN_FOUR_SUMS(3), \
        BERTPRETRAIN_FOUR_SUMS(4), BERTPRETRAIN_FOUR_SUMS(5), BERTPRETRAIN_FOUR_SUMS(6), BERTPRETRAIN_FOUR_SUMS(7)
#define BERTPRETRAIN_SUM_NAMES                                                \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "

/// sums = a b, or sums += a b: rows of `a` times rows of `b`, over 16 columns of both.
__device__ __forceinline__ void multiply_rows(Sums (&s)[warpgroup_tiles], std::uint64_t a, std::uint64_t b, bool accumulate) {
    asm volatile(
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %34, 0;\n"
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " BERTPRETRAIN_SUM_NAMES "%32, %33, adds, 1, 1, 0, 0;\n}"
        : BERTPRETRAIN_ALL_SUMS
        : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)));
}
/// sums += a b: 16 columns of `a`, in registers, times the columns of 16 rows of `b`.
__device__ __forceinline__ void multiply_columns(Sums (&s)[warpgroup_tiles], const FragmentA& a, std::uint64_t b) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 " BERTPRETRAIN_SUM_NAMES
                 "{%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                 : BERTPRETRAIN_ALL_SUMS
                 : "r"(a.at[0]), "r"(a.at[1]), "r"(a.at[2]), "r"(a.at[3]), "l"(b));
}

#undef BERTPRETRAIN_SUM_NAMES
#undef BERTPRETRAIN_ALL_SUMS
#undef BERTPRETRAIN_FOUR_SUMS

#else

__device__ inline void begin_matmuls() { cuda_emulator::begin_matmuls(); }
__device__ inline void show_to_matmuls() { cuda_emulator::show_to_matmuls(); }
__device__ inline void commit_matmuls() { cuda_emulator::commit_matmuls(); }
__device__ inline void wait_for_matmuls() { cuda_emulator::wait_for_matmuls(); }
__device__ inline void keep_order(Sums (&)[warpgroup_tiles]) {}
__device__ inline void multiply_rows(Sums (&s)[warpgroup_tiles], std::uint64_t a, std::uint64_t b, bool accumulate) {
    cuda_emulator::multiply_in_group(s[0].at, nullptr, a, b, /*transposed_b=*/false, accumulate);
}
__device__ inline void multiply_columns(Sums (&s)[warpgroup_tiles], const FragmentA& a, std::uint64_t b) {
    cuda_emulator::multiply_in_group(s[0].at, a.at, 0, b, /*transposed_b=*/true, true);
}

#endif

/// Begins sums = a b^T: the warpgroup's 64 rows of `a` times 64 rows of `b`, each of 64 columns. Both begin at a multiple of 8.
__device__ __forceinline__ void begin_products_of_rows(Sums (&sums)[warpgroup_tiles], const Bf16* a, const Bf16* b) {
    constexpr int step_columns = 16;
    constexpr std::uint64_t step = step_columns * sizeof(Bf16) / 16;  // in a descriptor's unit
    const std::uint64_t first_a = descriptor_of(a), first_b = descriptor_of(b);
#pragma unroll
    for (unsigned i = 0; i < warpgroup_columns / step_columns; ++i)
        multiply_rows(sums, first_a + i * step, first_b + i * step, i > 0);
}

/// Begins sums += a b: 64 columns in registers times 64 rows of `b`.
__device__ __forceinline__ void begin_sums_over_rows(Sums (&sums)[warpgroup_tiles], const FragmentA (&a)[warpgroup_columns / 16],
                                                     const Bf16* b) {
    constexpr int step_rows = 16;
    constexpr std::uint64_t step = step_rows * warpgroup_columns * sizeof(Bf16) / 16;
    const std::uint64_t first_b = descriptor_of(b);
#pragma unroll
    for (unsigned i = 0; i < warpgroup_columns / step_rows; ++i) multiply_columns(sums, a[i], first_b + i * step);
}

}  // namespace bertpretrain::cuda
