#pragma once
// The header of a safetensors file: its length in eight bytes, then JSON with the dtype, shape and position of each tensor
// (huggingface/safetensors, README "Format").

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "archive/dtype.h"

namespace bertpretrain {

/// The reason why a header is rejected, without the file's name.
struct SafetensorsRefusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A row-major tensor of a safetensors file.
struct SafetensorsEntry {
    std::string name;
    DType dtype = DType::f32;
    std::vector<std::int64_t> shape;  ///< empty: a scalar
    std::uint64_t offset = 0;         ///< offset of its first byte from the start of the file
    std::uint64_t bytes = 0;

    std::int64_t elements() const { return static_cast<std::int64_t>(bytes / dtype_bytes(dtype)); }
};

struct SafetensorsHeader {
    std::map<std::string, std::string> metadata;  ///< "__metadata__"
    std::vector<SafetensorsEntry> tensors;        ///< sorted by offset
};

inline constexpr std::uint64_t largest_safetensors_header = 100'000'000;  ///< in bytes; the limit of the format

/// Parses the header at the start of a whole file. Checks that each tensor's size is dtype x shape, and that the tensors fill the
/// file without gaps or overlaps. Takes memory in proportion to the header's length. @throws SafetensorsRefusal naming the tensor
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file);

}  // namespace bertpretrain
