#pragma once
// The input files of a command.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace bertpretrain {

/// Returns `inputs` in order, with each folder replaced by all files below it, sorted by path, but not hidden ones (".name"),
/// editors' copies, unfinished files (input_names.h; with a warning) and records of lineage (text_lineage.h). So are addresses
/// of folders in a store (remote_inputs.h).
/// Standard input ("-") is kept.
/// @throws DataError when an input does not exist, a folder has no files, or a file marks a part of a text that has not been
/// joined; for addresses what remote_inputs() throws
/// @throws ConfigError when `inputs` is empty or names standard input or a file twice
std::vector<std::filesystem::path> input_files(const std::vector<std::filesystem::path>& inputs);

/// Returns the total size; 0 when it is unknown, as for standard input. Of an object, input_files() has asked for it.
std::uint64_t bytes_of(const std::vector<std::filesystem::path>& files);

}  // namespace bertpretrain
