#pragma once
// The ids that `embed --id-field` keeps beside the vectors.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace bertpretrain {

/// Returns the ids of some rows of a file of vectors: of an .h5 file from its dataset "ids", of vectors.npy from
/// vectors.ids.txt. Empty where the file has none.
/// @param rows of the matrix  @param wanted row numbers from 0
/// @throws DataError when there are ids, but not as many as rows, or they cannot be read
std::map<std::int64_t, std::string> ids_of_rows(const std::filesystem::path& vectors, std::int64_t rows,
                                                const std::set<std::int64_t>& wanted);

}  // namespace bertpretrain
