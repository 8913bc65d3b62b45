#pragma once
// Reads the directory of a memory-mapped zip archive and checks every number in it.

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
    bool stored = true;                ///< false: `bytes` are compressed
    std::span<const std::byte> bytes;  ///< inside the mapping
};

class ZipReader {
public:
    /// @throws CheckpointError naming the file when it is not a zip archive, is damaged or cut short
    explicit ZipReader(const std::filesystem::path& file);

    const std::filesystem::path& file() const { return mapped_.file(); }
    const std::vector<ZipEntry>& entries() const { return entries_; }
    std::optional<std::size_t> find(const std::string& name) const;
    /// Whether a stored entry's bytes match the CRC-32 in the directory. Reads all of them.
    bool is_intact(std::size_t entry) const;

private:
    MappedFile mapped_;
    std::vector<ZipEntry> entries_;
    std::unordered_map<std::string, std::size_t> by_name_;
};

}  // namespace bertpretrain
