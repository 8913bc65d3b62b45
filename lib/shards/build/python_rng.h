#pragma once
// A bit-exact copy of CPython's random.Random, which the reference scripts use.

#include <array>
#include <cstddef>
#include <cstdint>

#include "shards/rng.h"

namespace bertpretrain {

/// MT19937, seeded and drawn from like CPython's random.Random(seed). It has hidden state, so use it only for samples that must
/// equal a reference script's, and draw in the script's order.
/// Source: Matsumoto and Nishimura 1998; CPython 3.11, Modules/_randommodule.c (init_by_array, random, getrandbits) and
/// Lib/random.py (_randbelow_with_getrandbits, shuffle).
class PythonRng final : public Rng {
public:
    explicit PythonRng(std::uint64_t seed);

    /// random()
    double uniform() override;
    /// randint(0, bound - 1). Consumes a number even if `bound` is 1.
    std::uint32_t below(std::uint32_t bound) override;
    /// shuffle(items). Shuffles all items, as the scripts do to choose some.
    void choose(std::vector<std::int32_t>& items, std::size_t) override { shuffle(items); }
    /// getrandbits(32)
    std::uint32_t next();

private:
    static constexpr std::uint32_t words_ = 624;

    void refill();

    std::array<std::uint32_t, words_> state_{};
    std::uint32_t used_ = words_;
};

}  // namespace bertpretrain
