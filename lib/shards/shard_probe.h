#pragma once
// The HDF5 library can crash on a damaged file; better that another process does.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/error.h"

namespace bertpretrain {

/// Must come first in the main() of a program that calls probe_shards(): there it starts itself again, with arguments that are
/// understood here. @returns the exit code when this process is such a child
std::optional<int> answer_probe(int argc, char** argv);

/// Opens and reads each file whole in a child process, up to `processes` (at least 1) of them at once, so that a file which
/// crashes or hangs the HDF5 library is found out before this process opens it. The children are started anew rather than
/// forked: a fork beside other threads inherits the locks they hold. Costs one reading of the files.
/// @returns what is wrong with each, or nothing
std::vector<std::optional<DataError>> probe_shards(const std::vector<std::filesystem::path>& files, std::size_t processes);

}  // namespace bertpretrain
