#pragma once
// Lists a folder without throwing file system errors.

#include <filesystem>
#include <system_error>
#include <vector>

namespace bertpretrain {

/// Returns the paths of all entries directly in `folder`, in the file system's order. Never throws a file system error, whereas a
/// range-for over std::filesystem::directory_iterator does on increment, even when the iterator was made with an error_code.
/// @param failure set when the folder could not be read to its end; the result is then incomplete
std::vector<std::filesystem::path> folder_entries(const std::filesystem::path& folder, std::error_code& failure);

}  // namespace bertpretrain
