#pragma once
// Texts that a user gave as a local path, but meant as something else.

#include <string>

namespace bertpretrain {

/// Returns why `path` was hardly meant as a local file or folder, with what to do, as the end of a message: it is the address of
/// an object store or server, begins with a ~ that no shell expanded, ends with a carriage return, or is empty. "": none of
/// these.
std::string not_local(const std::string& path);

}  // namespace bertpretrain
