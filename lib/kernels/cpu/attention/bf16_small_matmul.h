#pragma once
// Small bf16 matmuls accumulated in fp32, with the AVX-512 instruction that multiplies pairs; they take half the time of fp32.

#include <cstdint>

#include "kernels/cpu/bf16_pairs.h"

namespace bertpretrain::cpu {

/// C_MN = A_MP B_PN; each sum is taken in the order of P.
/// @param b_PN packed, row after row; N a multiple of pair_lanes
void bf16_small_matmul(std::int64_t M, std::int64_t N, std::int64_t P, const PairedRows& a, const Pair* b_PN, float* c_MN);

}  // namespace bertpretrain::cpu
