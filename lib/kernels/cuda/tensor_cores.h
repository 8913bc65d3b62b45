#pragma once
// The matrix instructions of Ampere and later, one function each: a warp's 16 x 16 by 16 x 8 bf16 matmul with fp32 sums, and the
// loads of its operands from shared memory. The emulator of the tests implements the same functions.
//
// Fragments are those of `mma.m16n8k16` (PTX ISA, "Matrix Fragments for mma.m16n8k16"). With g = lane / 4 and c = lane % 4, a
// lane holds these elements. A: the pairs (g, 2c), (g + 8, 2c), (g, 2c + 8), (g + 8, 2c + 8). B: the pairs (2c, g), (2c + 8, g)
// along k. Sums: (g, 2c), (g, 2c + 1), (g + 8, 2c), (g + 8, 2c + 1).

#include "kernels/cuda/lanes.h"

namespace bertpretrain::cuda {

struct FragmentA {
    unsigned at[4];
};
/// Two adjacent 16 x 8 tiles of B: tile 0's two registers, then tile 1's.
struct FragmentsB {
    unsigned at[4];
};
struct Sums {
    float at[4];
    __device__ float& operator[](int i) { return at[i]; }
    __device__ float operator[](int i) const { return at[i]; }
};

#ifdef __CUDACC__

/// sums += a b, where b is tile 0 or 1 of the two.
__device__ __forceinline__ void multiply_add(Sums& sums, const FragmentA& a, const FragmentsB& b, int tile) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums.at[0]), "+f"(sums.at[1]), "+f"(sums.at[2]), "+f"(sums.at[3])
        : "r"(a.at[0]), "r"(a.at[1]), "r"(a.at[2]), "r"(a.at[3]), "r"(b.at[2 * tile]), "r"(b.at[2 * tile + 1]));
}

/// Returns a b + c, where b is tile 0 or 1 of the two.
__device__ __forceinline__ Sums multiplied(const FragmentA& a, const FragmentsB& b, int tile, const Sums& c) {
    Sums sums;
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
        : "=f"(sums.at[0]), "=f"(sums.at[1]), "=f"(sums.at[2]), "=f"(sums.at[3])
        : "r"(a.at[0]), "r"(a.at[1]), "r"(a.at[2]), "r"(a.at[3]), "r"(b.at[2 * tile]), "r"(b.at[2 * tile + 1]), "f"(c.at[0]),
          "f"(c.at[1]), "f"(c.at[2]), "f"(c.at[3]));
    return sums;
}

/// Loads four 8 x 8 tiles of bf16. Lane l passes the address of row l % 8 of tile l / 8 (16 bytes, aligned to 16) in shared
/// memory. A lane receives the pair (g, 2c), (g, 2c + 1) of each tile; if transposed, (2c, g), (2c + 1, g).
template <bool transposed>
__device__ __forceinline__ void load_tiles(const Bf16* row, unsigned (&tiles)[4]) {
    const auto address = static_cast<unsigned>(__cvta_generic_to_shared(row));
    if constexpr (transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(tiles[0]), "=r"(tiles[1]), "=r"(tiles[2]), "=r"(tiles[3])
                     : "r"(address)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(tiles[0]), "=r"(tiles[1]), "=r"(tiles[2]), "=r"(tiles[3])
                     : "r"(address)
                     : "memory");
}

#else

__device__ inline void multiply_add(Sums& sums, const FragmentA& a, const FragmentsB& b, int tile) {
    cuda_emulator::multiply_add(sums.at, a.at, b.at + 2 * tile);
}
__device__ inline Sums multiplied(const FragmentA& a, const FragmentsB& b, int tile, const Sums& c) {
    Sums sums = c;
    multiply_add(sums, a, b, tile);
    return sums;
}
template <bool transposed>
__device__ void load_tiles(const Bf16* row, unsigned (&tiles)[4]) {
    cuda_emulator::load_tiles(&row->bits, transposed, tiles);
}

#endif

/// A: rows [row, row + 16) and columns [column, column + 16) of a matrix in shared memory.
__device__ __forceinline__ FragmentA load_a(const Bf16* matrix, int pitch, int row, int column) {
    FragmentA a;
    load_tiles<false>(matrix + (row + lane() % 16) * pitch + column + lane() / 16 * 8, a.at);
    return a;
}
/// A: the transpose of rows [row, row + 16) and columns [column, column + 16), so that rows run along k.
__device__ __forceinline__ FragmentA load_a_transposed(const Bf16* matrix, int pitch, int row, int column) {
    FragmentA a;
    load_tiles<true>(matrix + (row + lane() / 16 * 8 + lane() % 8) * pitch + column + lane() / 8 % 2 * 8, a.at);
    return a;
}
/// B: two tiles whose columns are rows [row, row + 16) of a matrix; columns [column, column + 16) run along k.
__device__ __forceinline__ FragmentsB load_b_of_rows(const Bf16* matrix, int pitch, int row, int column) {
    FragmentsB b;
    load_tiles<false>(matrix + (row + lane() / 16 * 8 + lane() % 8) * pitch + column + lane() / 8 % 2 * 8, b.at);
    return b;
}
/// B: two tiles whose columns are columns [column, column + 16) of a matrix; rows [row, row + 16) run along k.
__device__ __forceinline__ FragmentsB load_b_of_columns(const Bf16* matrix, int pitch, int row, int column) {
    FragmentsB b;
    load_tiles<true>(matrix + (row + lane() % 16) * pitch + column + lane() / 16 * 8, b.at);
    return b;
}

}  // namespace bertpretrain::cuda
