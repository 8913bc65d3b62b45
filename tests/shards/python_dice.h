#pragma once
// CPython's random.Random, so that our builders can be compared with the reference scripts value by value.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "shards/dice.h"

namespace bertpretrain::testing {

/// MT19937 seeded by init_by_array with one word, drawn from as random.Random draws. For bounds below 2^32.
class PythonDice final : public Dice {
public:
    explicit PythonDice(std::uint32_t seed) {
        state_[0] = 19650218;
        for (std::uint32_t i = 1; i < n; ++i) state_[i] = 1812433253U * (state_[i - 1] ^ (state_[i - 1] >> 30)) + i;
        std::uint32_t i = 1;
        const auto step = [&](std::uint32_t factor, std::uint32_t plus, bool minus_i) {
            state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * factor)) + plus - (minus_i ? i : 0);
            if (++i >= n) {
                state_[0] = state_[n - 1];
                i = 1;
            }
        };
        for (std::uint32_t k = 0; k < n; ++k) step(1664525U, seed, false);
        for (std::uint32_t k = 0; k < n - 1; ++k) step(1566083941U, 0, true);
        state_[0] = 0x80000000U;
    }

    double uniform() override {
        const std::uint32_t a = next() >> 5, b = next() >> 6;
        return (a * 67108864.0 + b) / 9007199254740992.0;
    }

    std::uint32_t below(std::uint32_t bound) override {
        const auto bits = static_cast<std::uint32_t>(std::bit_width(bound));
        std::uint32_t value = next() >> (32 - bits);
        while (value >= bound) value = next() >> (32 - bits);
        return value;
    }

private:
    static constexpr std::uint32_t n = 624;

    std::uint32_t next() {
        if (index_ == n) {
            for (std::uint32_t k = 0; k < n; ++k) {
                const std::uint32_t y = (state_[k] & 0x80000000U) | (state_[(k + 1) % n] & 0x7fffffffU);
                state_[k] = state_[(k + 397) % n] ^ (y >> 1) ^ ((y & 1) != 0 ? 0x9908b0dfU : 0U);
            }
            index_ = 0;
        }
        std::uint32_t y = state_[index_++];
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c5680U;
        y ^= (y << 15) & 0xefc60000U;
        return y ^ (y >> 18);
    }

    std::array<std::uint32_t, n> state_{};
    std::uint32_t index_ = n;
};

}  // namespace bertpretrain::testing
