#pragma once
// Compresses a chunk like HDF5's shuffle and gzip filters, but without the library and its lock.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bertpretrain {

/// Returns the chunk as HDF5 stores it with the filters shuffle and gzip: values of more than one byte are reordered into byte
/// planes, then everything is deflated with a zlib header. Deterministic. Thread-safe.
std::vector<std::byte> compress_chunk(std::span<const std::int32_t> values);
std::vector<std::byte> compress_chunk(std::span<const std::int8_t> values);

}  // namespace bertpretrain
