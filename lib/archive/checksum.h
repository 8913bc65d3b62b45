#pragma once
// CRC-32 (zlib's polynomial) of bytes in memory, and of concatenated parts.

#include <cstddef>
#include <cstdint>
#include <span>

namespace bertpretrain {

std::uint32_t crc32_of(std::span<const std::byte> bytes);

/// Returns the CRC-32 of A followed by B, computed from the CRC-32s of A and B and B's length.
std::uint32_t crc32_joined(std::uint32_t crc_a, std::uint32_t crc_b, std::uint64_t bytes_b);

}  // namespace bertpretrain
