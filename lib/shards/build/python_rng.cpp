#include "shards/build/python_rng.h"

#include <bit>

namespace bertpretrain {
namespace {

constexpr std::uint32_t mix_high_bits(std::uint32_t word) { return word ^ (word >> 30); }

}  // namespace

PythonRng::PythonRng(std::uint64_t seed) {
    // init_genrand(19650218), then init_by_array() with the seed's 32-bit words, least significant first
    state_[0] = 19650218;
    for (std::uint32_t i = 1; i < words_; ++i) state_[i] = 1812433253U * mix_high_bits(state_[i - 1]) + i;
    const std::array key{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
    const std::uint32_t key_words = key[1] == 0 ? 1 : 2;
    std::uint32_t i = 1;
    const auto advance = [&] {
        if (++i < words_) return;
        state_[0] = state_[words_ - 1];
        i = 1;
    };
    for (std::uint32_t k = 0; k < words_; ++k) {
        state_[i] = (state_[i] ^ (mix_high_bits(state_[i - 1]) * 1664525U)) + key[k % key_words] + k % key_words;
        advance();
    }
    for (std::uint32_t k = 0; k < words_ - 1; ++k) {
        state_[i] = (state_[i] ^ (mix_high_bits(state_[i - 1]) * 1566083941U)) - i;
        advance();
    }
    state_[0] = 0x80000000U;
}

double PythonRng::uniform() {
    const std::uint32_t a = next() >> 5, b = next() >> 6;
    return (a * 67108864.0 + b) / 9007199254740992.0;
}

std::uint32_t PythonRng::below(std::uint32_t bound) {
    const auto bits = static_cast<std::uint32_t>(std::bit_width(bound));
    std::uint32_t value = next() >> (32 - bits);
    while (value >= bound) value = next() >> (32 - bits);
    return value;
}

std::uint32_t PythonRng::next() {
    if (used_ == words_) refill();
    std::uint32_t word = state_[used_++];
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680U;
    word ^= (word << 15) & 0xefc60000U;
    return word ^ (word >> 18);
}

void PythonRng::refill() {
    const auto twist = [&](std::uint32_t k, std::uint32_t next, std::uint32_t far) {
        const std::uint32_t joined = (state_[k] & 0x80000000U) | (state_[next] & 0x7fffffffU);
        state_[k] = state_[far] ^ (joined >> 1) ^ ((joined & 1) != 0 ? 0x9908b0dfU : 0U);
    };
    constexpr std::uint32_t distance = 397;
    for (std::uint32_t k = 0; k < words_ - distance; ++k) twist(k, k + 1, k + distance);
    for (std::uint32_t k = words_ - distance; k < words_ - 1; ++k) twist(k, k + 1, k + distance - words_);
    twist(words_ - 1, 0, distance - 1);
    used_ = 0;
}

}  // namespace bertpretrain
