#pragma once
// bf16_small_matmul() with AMX: one instruction multiplies sixteen rows by sixteen columns over sixteen pairs.

#include <cstdint>

#include "kernels/cpu/bf16_pairs.h"

namespace bertpretrain::cpu {

constexpr std::int64_t tile_lanes = 16;  ///< rows, columns or pairs of a tile

/// Whether this process may use AMX: instruction_set() allows it and the Linux kernel grants the tile registers.
bool has_amx();

/// While it exists, this thread's tile registers stay configured between calls of amx_small_matmul(): configuring them takes
/// longer than a small matmul. Nothing else that uses them may run meanwhile. Does nothing without AMX.
class AmxSmallMatmuls {
public:
    AmxSmallMatmuls();
    ~AmxSmallMatmuls();
    AmxSmallMatmuls(const AmxSmallMatmuls&) = delete;
    AmxSmallMatmuls& operator=(const AmxSmallMatmuls&) = delete;
};

/// Needs AmxSmallMatmuls. Same contract as bf16_small_matmul(). Sums are rounded as the instruction does it, in the order of P.
/// @param N, P multiples of tile_lanes
/// @param a pair_step is 1, or row_step is 1 and pair_step at least M rounded up to tile_lanes
void amx_small_matmul(std::int64_t M, std::int64_t N, std::int64_t P, const PairedRows& a, const Pair* b_PN, float* c_MN);

}  // namespace bertpretrain::cpu
