#pragma once
// Numbers at any position of a byte string, with its end respected.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace bertpretrain {

static_assert(std::endian::native == std::endian::little, "files are read and written without turning bytes round");

/// The number at `offset`; the caller has checked that it lies within.
template <class Number>
Number number_at(std::span<const std::byte> bytes, std::size_t offset) {
    Number number;
    std::memcpy(&number, bytes.data() + offset, sizeof number);
    return number;
}

/// Whether [offset, offset + count) lies within `size`, whatever the numbers.
inline bool lies_within(std::uint64_t offset, std::uint64_t count, std::uint64_t size) {
    return offset <= size && count <= size - offset;
}

}  // namespace bertpretrain
