#pragma once
// Types shared by host code and kernels; nothing here needs nvcc.

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

/// What is applied to each element of a row (bias_rows.h).
enum class RowFunction { identity, gelu_erf, gelu_tanh, silu };

/// The layout of a row within a block (lanes.h).
constexpr int warp_lanes = 32, warp_columns = 256;

}  // namespace bertpretrain::cuda
