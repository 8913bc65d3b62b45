#include "train/save/finite_state.h"

#include <bit>
#include <cstdint>
#include <span>

namespace bertpretrain {
namespace {

/// Infinity and NaN have all exponent bits set. The loop has no branch, so that it runs at memory bandwidth.
bool is_finite(std::span<const float> values) {
    constexpr std::uint32_t exponent = 0x7f800000;
    std::uint32_t found = 0;
    for (const float value : values) found |= (std::bit_cast<std::uint32_t>(value) & exponent) == exponent ? 1U : 0U;
    return found == 0;
}

bool is_finite(const TensorSet& set) {
    for (const TensorPiece& piece : set.pieces)
        if (!is_finite(std::span(piece.data, static_cast<std::size_t>(piece.elements)))) return false;
    return true;
}

}  // namespace

bool is_finite(const TrainingState& state) {
    for (const auto& [name, set] : state.moments)
        if (!is_finite(set)) return false;
    return is_finite(state.parameters);
}

}  // namespace bertpretrain
