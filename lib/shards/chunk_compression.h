#pragma once
// What HDF5's shuffle and gzip filters would make of a chunk, outside the library and its lock, on any thread.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bertpretrain {

/// Shuffled (byte planes one after the other, for values of more than one byte) and deflated with a zlib header, as HDF5 stores
/// chunks whose filters are shuffle and gzip. The same values give the same bytes.
std::vector<std::byte> compress_chunk(std::span<const std::int32_t> values);
std::vector<std::byte> compress_chunk(std::span<const std::int8_t> values);

}  // namespace bertpretrain
