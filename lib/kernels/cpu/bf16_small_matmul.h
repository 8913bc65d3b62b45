#pragma once
// Small products of bf16 matrices accumulated in fp32, with the AVX-512 instruction that multiplies pairs: half the time of fp32.
//
// A "pair" is two bf16 numbers that the instruction multiplies and adds together, in one 32-bit word. The axis that is summed
// over is therefore counted in pairs, P, and matrices are packed so that both numbers of a pair lie side by side.

#include <cstdint>

#include "kernels/cpu/vector_math.h"

namespace bertpretrain::cpu {

using Pair = std::uint32_t;
constexpr std::int64_t pair_lanes = 16;  ///< of a vector; every packed row is a multiple of it

/// Whether this process may use the instruction.
inline bool has_bf16_matmul() { return instruction_set() >= InstructionSet::avx512_bf16; }

/// A[m][p] is at[m * row_step + p * pair_step]: no order of A is slower than another. Rows of bf16 are rows of pairs as they lie.
struct PairedRows {
    const void* at;
    std::int64_t row_step, pair_step;
};

/// What a product starts with and is multiplied by; null means zeros.
struct MatmulFrame {
    const float* start_M = nullptr;
    const float* start_N = nullptr;
    float scale = 1;
};

/// C_MN = scale * (A_MP B_PN + start_M + start_N), every sum in the order of P.
/// @param b_PN packed, row after row; N a multiple of pair_lanes
void bf16_small_matmul(std::int64_t M, std::int64_t N, std::int64_t P, const PairedRows& a, const Pair* b_PN,
                       const MatmulFrame& frame, float* c_MN);

/// Rounds an fp32 row of D numbers to D / 2 pairs; D is a multiple of pair_lanes.
void pair_along_row(const float* row, std::int64_t D, Pair* to);
/// to[d] = the pair (upper[d], lower[d]); `lower` may be null, which means zeros.
void pair_across_rows(const Bf16* upper, const Bf16* lower, std::int64_t D, Pair* to);
void pair_across_rows(const float* upper, const float* lower, std::int64_t D, Pair* to);
/// to_PX = the transpose of S rows of P pairs that lie `stride` apart, with zeros behind them; P and X are multiples of
/// pair_lanes.
void transpose_pairs(const void* rows, std::int64_t stride, std::int64_t S, std::int64_t P, std::int64_t X, Pair* to_PX);

}  // namespace bertpretrain::cpu
