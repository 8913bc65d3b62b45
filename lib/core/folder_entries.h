#pragma once
// Listing a folder on a disk that may fail.

#include <filesystem>
#include <system_error>
#include <vector>

namespace bertpretrain {

/// The paths of everything directly in `folder`, in the file system's order. What the file system reports is never thrown:
/// std::filesystem's own iterators throw where they advance, though they were made with an error_code.
/// @param failure set when the folder could not be read to its end; the result is then incomplete
std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder, std::error_code& failure);

}  // namespace bertpretrain
