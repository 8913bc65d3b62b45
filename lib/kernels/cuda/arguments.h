#pragma once
// Types shared by host code and kernels; nothing here needs nvcc.

#include <cstddef>
#include <cstdint>

#include "core/philox.h"

namespace bertpretrain::cuda {

/// A bfloat16 as bits, independent of torch's and CUDA's types.
struct Bf16 {
    std::uint16_t bits;
};

/// Sign, 4 bits of exponent, 3 of fraction; no infinity. Source: Micikevicius et al. 2022.
struct E4m3 {
    static constexpr int fraction = 3, bias = 7;
    static constexpr float largest = 448;
};
/// Sign, 5 bits of exponent, 2 of fraction.
struct E5m2 {
    static constexpr int fraction = 2, bias = 15;
    static constexpr float largest = 57344;
};

/// The keys of all rounds of Philox, computed once on the host: kernels then read them as constants.
struct PhiloxKeys {
    PhiloxRoundKey of_round[philox_rounds] = {};

    PhiloxKeys() = default;
    PhiloxKeys(std::uint32_t k0, std::uint32_t k1) {
        PhiloxRoundKey key{k0, k1};
        for (PhiloxRoundKey& one : of_round) one = key, key.advance();
    }
};

/// Dropout of hidden-state rows in kernel arguments; `threshold` 0 disables it.
struct RowDropout {
    PhiloxKeys keys;
    std::uint32_t site = 0, threshold = 0;
    float scale = 1;
    const std::int64_t *sample_T = nullptr, *position_T = nullptr;
};

/// A matmul's operand in kernel arguments, and its transpose (fp8_rows.h). Rows and width are multiples of 4.
struct Fp8Rows {
    std::int64_t rows, width;
    const float* scale;
    float* largest;
    std::uint8_t *by_row, *by_column;  ///< by_row null: there is no operand
};

constexpr int fp8_tile_rows = 16;
/// Bytes between a tile's columns: an odd number of words, so that a warp's stores meet no bank twice.
constexpr int fp8_tile_pitch = fp8_tile_rows + 4;

/// Returns a tile's bytes of dynamic shared memory, for a block of so many threads.
constexpr std::size_t fp8_tile_bytes(std::int64_t threads) { return static_cast<std::size_t>(8 * fp8_tile_pitch * threads); }

/// What is applied to each element of a row (bias_rows.h).
enum class RowFunction { identity, gelu_erf, gelu_tanh, silu };

/// The layout of a row within a block (lanes.h).
constexpr int warp_lanes = 32, warp_columns = 256;

}  // namespace bertpretrain::cuda
