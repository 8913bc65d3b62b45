#pragma once
// The random number interface of the sample builders. Implementations: counter-based streams, and Python's generator
// (python_rng.h) to reproduce a reference script value for value.

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/random.h"

namespace bertpretrain {

class Rng {
public:
    virtual ~Rng() = default;
    /// Uniform in [0, 1).
    virtual double uniform() = 0;
    /// Uniform in [0, bound); `bound` at least 1.
    virtual std::uint32_t below(std::uint32_t bound) = 0;

    /// Moves `count` randomly chosen items to the front, in random order. `count` must not exceed items.size().
    virtual void choose(std::vector<std::int32_t>& items, std::size_t count) = 0;

    /// Fisher-Yates from the end, like Python's random.shuffle.
    template <class T>
    void shuffle(std::vector<T>& items) {
        for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(static_cast<std::uint32_t>(i))]);
    }
};

/// Draws from one position of a counter-based random stream.
class StreamRng final : public Rng {
public:
    explicit StreamRng(const RandomSequence& sequence) : sequence_(sequence) {}
    double uniform() override { return static_cast<double>(sequence_.uniform()); }
    std::uint32_t below(std::uint32_t bound) override { return sequence_.below(bound); }
    void choose(std::vector<std::int32_t>& items, std::size_t count) override {
        for (std::size_t i = 0; i < count; ++i)
            std::swap(items[i], items[i + sequence_.below(static_cast<std::uint32_t>(items.size() - i))]);
    }

private:
    RandomSequence sequence_;
};

}  // namespace bertpretrain
