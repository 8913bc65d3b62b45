#pragma once
// Reads numbers at any offset of a byte string, and checks ranges.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace bertpretrain {

static_assert(std::endian::native == std::endian::little, "files are little-endian, and bytes are not swapped");

/// Returns the number at `offset`, which may be unaligned. The caller has checked that it lies within `bytes`.
template <class Number>
Number number_at(std::span<const std::byte> bytes, std::size_t offset) {
    Number number;
    std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
}

/// Whether [offset, offset + count) lies within [0, size). Safe against overflow.
inline bool lies_within(std::uint64_t offset, std::uint64_t count, std::uint64_t size) {
    return offset <= size && count <= size - offset;
}

}  // namespace bertpretrain
