#pragma once
// The header of a safetensors file: eight bytes of length, then JSON that says what lies where
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

/// Why a header is not read, without the file's name.
struct SafetensorsRefusal : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A row-major tensor of a safetensors file.
struct SafetensorsEntry {
    std::string name;
    DType dtype = DType::f32;
    std::vector<std::int64_t> shape;  ///< no axes: a single number
    std::uint64_t offset = 0;         ///< of its first byte in the file
    std::uint64_t bytes = 0;

    std::int64_t elements() const { return static_cast<std::int64_t>(bytes / dtype_bytes(dtype)); }
};

struct SafetensorsHeader {
    std::map<std::string, std::string> metadata;  ///< "__metadata__"
    std::vector<SafetensorsEntry> tensors;        ///< in the order of their bytes
};

inline constexpr std::uint64_t largest_safetensors_header = 100'000'000;  ///< bytes; the format's own limit

/// What the whole file says it holds. Every size was found to be dtype x shape, and the tensors to fill the file without holes or
/// overlaps. @throws SafetensorsRefusal naming the tensor; memory is bounded by a constant times the header's length
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> file);

}  // namespace bertpretrain
