#pragma once
// Small bf16 matmuls accumulated in fp32, with the AVX-512 instruction that multiplies pairs; they take half the time of fp32.
//
// A "pair" is one 32-bit word that holds two bf16 numbers; the instruction adds the products of both to a sum. The reduction
// axis is therefore counted in pairs, P, and matrices are packed so that both numbers of a pair are adjacent.

#include <cstdint>

#include "kernels/cpu/vector_math.h"

namespace bertpretrain::cpu {

using Pair = std::uint32_t;
constexpr std::int64_t pair_lanes = 16;  ///< per vector; the length of every packed row is a multiple of it

/// Whether this process may use the instruction.
inline bool has_bf16_matmul() { return instruction_set() >= InstructionSet::avx512_bf16; }

/// A[m][p] is at[m * row_step + p * pair_step]; all layouts are equally fast. A row of bf16 is a row of pairs without repacking.
struct PairedRows {
    const void* at;
    std::int64_t row_step, pair_step;
};

/// Initial values of the sums (null: zeros) and the final scale.
struct MatmulFrame {
    const float* start_M = nullptr;
    const float* start_N = nullptr;
    float scale = 1;
};

/// C_MN = scale * (A_MP B_PN + start_M + start_N); each sum is taken in the order of P.
/// @param b_PN packed, row after row; N a multiple of pair_lanes
void bf16_small_matmul(std::int64_t M, std::int64_t N, std::int64_t P, const PairedRows& a, const Pair* b_PN,
                       const MatmulFrame& frame, float* c_MN);

/// Rounds an fp32 row of D elements to D / 2 bf16 pairs; D is a multiple of pair_lanes.
void pair_along_row(const float* row, std::int64_t D, Pair* to);
/// to[d] = the pair (upper[d], lower[d]); a null `lower` means zeros.
void pair_across_rows(const Bf16* upper, const Bf16* lower, std::int64_t D, Pair* to);
void pair_across_rows(const float* upper, const float* lower, std::int64_t D, Pair* to);
/// to_PX = the transpose of S rows of P pairs, padded with zeros. Consecutive rows are `stride` apart; P and X are multiples of
/// pair_lanes.
void transpose_pairs(const void* rows, std::int64_t stride, std::int64_t S, std::int64_t P, std::int64_t X, Pair* to_PX);

}  // namespace bertpretrain::cpu
