#pragma once
// Files appear whole or not at all.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// The whole content of a file. @throws DataError when it cannot be read
std::string read_file(const std::filesystem::path& file);

/// Writes `file` so that a reader sees the old content or the new, never a part: a `.partial` beside it,
/// flushed to the disk, then renamed; removed again when `write` throws.
/// @throws DataError naming the file and the system's reason
void write_atomically_at(const std::filesystem::path& file,
                         const std::function<void(const std::filesystem::path& partial)>& write);
void write_atomically(const std::filesystem::path& file, const std::function<void(std::ostream&)>& write);
void write_atomically(const std::filesystem::path& file, std::string_view content);

/// Forces a file's or folder's content to the disk. @throws DataError
void flush_to_disk(const std::filesystem::path& file_or_folder);

/// Makes the folder with its parents and proves that one may write there. @throws ConfigError
void make_writable_folder(const std::filesystem::path& folder);

/// Regular files directly in `folder` whose names end in one of `endings`, sorted by name.
/// @throws DataError when the folder cannot be listed
std::vector<std::filesystem::path> list_files(const std::filesystem::path& folder, const std::vector<std::string>& endings);

/// CRC-32 (zlib's polynomial) of a file's bytes. @throws DataError
std::uint32_t crc32_of_file(const std::filesystem::path& file);

}  // namespace bertpretrain
