#pragma once
// Reading, listing and atomically writing files.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace bertpretrain {

/// Returns the content of a file. @throws DataError when it cannot be read, or is a pipe
std::string read_file(const std::filesystem::path& file);

/// Writes `file` atomically: readers see the old content or the new one, never a part of it. `write` fills FILE.partial, which is
/// flushed to the disk and then renamed. When `write` throws, the partial file is removed.
/// @throws DataError with the file and the system's reason
void write_atomically_at(const std::filesystem::path& file,
                         const std::function<void(const std::filesystem::path& partial)>& write);
void write_atomically(const std::filesystem::path& file, const std::function<void(std::ostream&)>& write);
void write_atomically(const std::filesystem::path& file, std::string_view content);

/// Flushes a file or folder to the disk (fsync). Does nothing for a folder whose file system cannot flush folders.
/// @throws DataError
void flush_to_disk(const std::filesystem::path& file_or_folder);

/// Creates the folder and its parents, and writes a probe file to verify that it is writable. @throws ConfigError
void make_writable_folder(const std::filesystem::path& folder);

/// Returns the regular files directly in `folder` whose names end in one of `endings`, sorted by name.
/// @throws DataError when the folder cannot be listed
std::vector<std::filesystem::path> list_files(const std::filesystem::path& folder, const std::vector<std::string>& endings);

/// CRC-32 (zlib's polynomial) of a file's bytes. @throws DataError
std::uint32_t crc32_of_file(const std::filesystem::path& file);

/// Returns the paths of all entries directly in `folder`, in the file system's order. Never throws a file system error, whereas a
/// range-for over std::filesystem::directory_iterator does on increment, even when the iterator was made with an error_code.
/// @param failure set when the folder could not be read to its end; the result is then incomplete
std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder, std::error_code& failure);

}  // namespace bertpretrain
