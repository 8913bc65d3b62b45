#pragma once
// The files that the user named.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace bertpretrain {

/// `inputs` in their order; a folder gives all its files, those of its folders too, sorted by name. Standard input ("-") stays.
/// @throws DataError when one does not exist or a folder holds no file; ConfigError when there is none at all
std::vector<std::filesystem::path> input_files(const std::vector<std::filesystem::path>& inputs);

/// Their sizes together; 0 when one is standard input, whose size nobody knows.
std::uint64_t bytes_of(const std::vector<std::filesystem::path>& files);

}  // namespace bertpretrain
