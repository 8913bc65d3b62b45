#pragma once
// What to say about a path that leads to no file.

#include <filesystem>
#include <string>

namespace bertpretrain {

/// Returns why `path` was hardly meant as a local file or folder, with what to do, as the end of a message: it is the address of
/// an object store or server, begins with a ~ that no shell expanded, ends with a carriage return, or is empty. "": none of
/// these.
std::string not_local(const std::string& path);

/// Returns the end of a message about a path that leads to nothing: which folder a relative one starts at. "": it is absolute.
std::string start_of_relative(const std::filesystem::path& path);

}  // namespace bertpretrain
