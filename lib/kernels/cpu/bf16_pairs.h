#pragma once
// Packs matrices for the instructions that multiply pairs of bf16 numbers (attention/bf16_small_matmul.h, amx/small_matmul.h).
//
// A "pair" is one 32-bit word that holds two bf16 numbers; the instruction adds the products of both to a sum. The reduction
// axis is therefore counted in pairs, P, and matrices are packed so that both numbers of a pair are adjacent.

#include <cstdint>

#include "kernels/cpu/vector_math.h"

namespace bertpretrain::cpu {

using Pair = std::uint32_t;
/// A pair that may have been written as two bf16 numbers.
using AliasingPair = Pair __attribute__((may_alias));
constexpr std::int64_t pair_lanes = 16;  ///< per vector; the length of every packed row is a multiple of it

/// Whether this process may use the AVX-512 instruction for pairs, and the functions below.
inline bool has_bf16_matmul() { return instruction_set() >= InstructionSet::avx512_bf16; }

/// A[m][p] is at[m * row_step + p * pair_step]; all layouts are equally fast. A row of bf16 is a row of pairs without repacking.
struct PairedRows {
    const void* at;
    std::int64_t row_step, pair_step;
};

constexpr std::int64_t bf16_parts = 3;  ///< bf16 numbers that add up to an fp32 number: 3 x 8 bits

// D, P and X are multiples of pair_lanes.

/// Writes bf16_parts rows of D bf16 numbers that add up to the fp32 row.
void split_row(const float* row, std::int64_t D, Pair* to);
/// to[d] = the pair (upper[d], lower[d]); a null `lower` means zeros.
void pair_across_rows(const Bf16* upper, const Bf16* lower, std::int64_t D, Pair* to);
/// to_PX = the transpose of S rows of P pairs, padded with zeros. Consecutive rows are `stride` and `to_stride` apart.
void transpose_pairs(const void* rows, std::int64_t stride, std::int64_t S, std::int64_t P, std::int64_t X, Pair* to_PX,
                     std::int64_t to_stride);

/// factors_S row_D, an fp32 matrix; null: zeros.
struct OuterProduct {
    const float *factors_S = nullptr, *row_D = nullptr;
};
/// rows = (from_SD + product) * scale, rounded; consecutive rows are `stride` elements apart.
void put_rounded_rows(const float* from_SD, std::int64_t S, std::int64_t D, const OuterProduct& product, float scale, Bf16* rows,
                      std::int64_t stride);

}  // namespace bertpretrain::cpu
