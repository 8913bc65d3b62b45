#pragma once
// Reads safetensors files.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <unordered_map>

#include "archive/mapped_file.h"
#include "archive/safetensors_header.h"

namespace bertpretrain {

/// A memory-mapped safetensors file. Reading is thread-safe. The format has no checksums.
class SafetensorsReader {
public:
    /// @throws CheckpointError naming the file and the tensor concerned, when the file is damaged, cut short or not supported
    explicit SafetensorsReader(const std::filesystem::path& file);

    const std::filesystem::path& file() const { return mapped_.file(); }
    const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
    const std::vector<SafetensorsEntry>& tensors() const { return header_.tensors; }
    /// Returns null when there is no such tensor.
    const SafetensorsEntry* find(std::string_view name) const;

    /// Returns the bytes of one of tensors(), inside the mapping. They may be unaligned.
    std::span<const std::byte> bytes(const SafetensorsEntry& tensor) const;

    /// Copies elements [first, first + count) in row-major order, converted to fp32.
    /// @throws std::logic_error when the tensor has fewer elements
    void read_as_float(const SafetensorsEntry& tensor, std::int64_t first, std::int64_t count, float* into) const;

private:
    MappedFile mapped_;
    SafetensorsHeader header_;
    std::unordered_map<std::string_view, std::size_t> by_name_;
};

}  // namespace bertpretrain
