#pragma once
// Writes safetensors files that Hugging Face's libraries read.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "archive/dtype.h"

namespace bertpretrain {

/// A row-major tensor to write. The caller owns its bytes, which may lie in a memory mapping.
struct SafetensorsTensor {
    std::string name;
    DType dtype = DType::f32;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;
};

/// Writes the file atomically. Sorts the tensors by element size, widest first, so that each is aligned to its element size; the
/// order is otherwise kept. transformers requires the metadata {"format": "pt"}.
/// @throws DataError with the file and the system's reason
/// @throws std::logic_error when two tensors have the same name, or a tensor's size is not dtype x shape
void write_safetensors(const std::filesystem::path& file, std::vector<SafetensorsTensor> tensors,
                       const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace bertpretrain
