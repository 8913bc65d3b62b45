#pragma once
// The directory of a zip, mapped into memory, with every number in it checked.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "archive/mapped_file.h"

namespace bertpretrain {

struct ZipEntry {
    std::string name;
    std::uint32_t crc32 = 0;
    bool stored = true;                ///< false: compressed, so its bytes are not its content
    std::span<const std::byte> bytes;  ///< inside the mapping
};

class ZipReader {
public:
    /// @throws CheckpointError naming the file when it is no zip, is damaged or cut short
    explicit ZipReader(const std::filesystem::path& file);

    const std::filesystem::path& file() const { return mapped_.file(); }
    const std::vector<ZipEntry>& entries() const { return entries_; }
    std::optional<std::size_t> find(const std::string& name) const;
    /// Whether a stored entry's bytes have the CRC-32 that the directory says.
    bool is_intact(std::size_t entry) const;

private:
    MappedFile mapped_;
    std::vector<ZipEntry> entries_;
    std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace bertpretrain
