#pragma once
// Reads shards of unknown origin in a child process first, because a damaged file can crash the HDF5 library.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/error.h"

namespace bertpretrain {

/// Runs the child's part of probe_shards(), which starts this program again with special arguments. Call it first in main() of
/// every program that uses probe_shards(). @returns the exit code if this process is such a child, else nullopt
std::optional<int> answer_probe(int argc, char** argv);

/// A child process's result for one file.
struct ProbedShard {
    std::optional<DataError> problem;  ///< nullopt: the whole file can be read
    std::uint32_t crc32 = 0;           ///< of the file's bytes; valid if there is no problem
};

/// Reads each file completely in child processes, up to `processes` (at least 1) at once, to find files that crash or hang the
/// HDF5 library before this process opens them. Blocks until all are done. The children run this program from its start,
/// because a fork would inherit locks held by other threads. Reads every file twice, the second time from the page cache.
/// @returns one result per file, in order
std::vector<ProbedShard> probe_shards(const std::vector<std::filesystem::path>& files, std::size_t processes);

}  // namespace bertpretrain
