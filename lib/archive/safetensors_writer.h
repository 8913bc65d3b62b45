#pragma once
// Writes a safetensors file, as Hugging Face's libraries read it.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "archive/dtype.h"

namespace bertpretrain {

/// A row-major tensor to be written; its bytes stay the caller's (a mapping will do).
struct SafetensorsTensor {
    std::string name;
    DType dtype = DType::f32;
    std::vector<std::int64_t> shape;
    std::span<const std::byte> bytes;
};

/// Writes the file whole or not at all. Tensors keep their order but for their types: wide ones first, so that each begins at a
/// multiple of its element. `metadata` {"format": "pt"} is what transformers asks for.
/// @throws DataError naming the file and the system's reason
/// @throws std::logic_error when a name comes twice, or bytes are not dtype x shape
void write_safetensors(const std::filesystem::path& file, std::vector<SafetensorsTensor> tensors,
                       const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

}  // namespace bertpretrain
