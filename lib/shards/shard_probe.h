#pragma once
// The HDF5 library can crash on a damaged file; better that another process does.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/error.h"

namespace bertpretrain {

/// Must come first in the main() of a program that calls probe_shards(): there it starts itself again, with arguments that are
/// understood here. @returns the exit code when this process is such a child
std::optional<int> answer_probe(int argc, char** argv);

/// What a child process found out about one file.
struct ProbedShard {
    std::optional<DataError> problem;  ///< nothing: the whole file can be read
    std::uint32_t crc32 = 0;           ///< of its bytes, where there is no problem
};

/// Opens and reads each file whole in a child process, up to `processes` (at least 1) of them at once, so that a file which
/// crashes or hangs the HDF5 library is found before this process opens it. The children start this program again: a fork beside
/// other threads would inherit the locks that they hold. Costs two readings of the files, the second from the page cache.
/// @returns an answer for each file
std::vector<ProbedShard> probe_shards(const std::vector<std::filesystem::path>& files, std::size_t processes);

}  // namespace bertpretrain
