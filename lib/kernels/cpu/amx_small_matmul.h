#pragma once
// bf16_small_matmul() by the tile instructions (AMX): sixteen rows times sixteen columns times sixteen pairs at once.

#include <cstdint>

#include "kernels/cpu/bf16_small_matmul.h"

namespace bertpretrain::cpu {

constexpr std::int64_t tile_lanes = 16;  ///< rows, columns or pairs of a tile

/// Rounded up to whole tiles.
constexpr std::int64_t in_whole_tiles(std::int64_t rows) { return (rows + tile_lanes - 1) / tile_lanes * tile_lanes; }

/// Whether this process may use tiles: instruction_set() says so, and the kernel grants their registers.
bool has_amx();

/// bf16_small_matmul(). Sums round as the instruction does, in the order of P.
/// @param N, P multiples of tile_lanes
/// @param a pair_step is 1, or row_step is 1 and pair_step at least in_whole_tiles(M)
void amx_small_matmul(std::int64_t M, std::int64_t N, std::int64_t P, const PairedRows& a, const Pair* b_PN,
                      const MatmulFrame& frame, float* c_MN);

}  // namespace bertpretrain::cpu
