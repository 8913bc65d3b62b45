#pragma once
// The ids that `embed --id-field` keeps beside the vectors.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace bertpretrain {

/// Returns the ids of some rows of a file of vectors: of an .h5 file from its dataset "ids", of vectors.npy from
/// vectors.ids.txt. Empty where the file has none.
/// @param rows of the matrix  @param wanted row numbers from 0
/// @throws DataError when there are ids, but not as many as rows, or they cannot be read
std::map<std::int64_t, std::string> ids_of_rows(const std::filesystem::path& vectors, std::int64_t rows,
                                                const std::set<std::int64_t>& wanted);

/// The first row that has another id in each of two files.
struct IdDifference {
    std::int64_t row = 0;
    std::string a, b;             ///< its ids
    bool is_other_order = false;  ///< whether both files have the same ids, in another order
};

/// Compares the ids of two files of vectors with the same number of rows. Returns nullopt where all are the same, or a file has
/// none. @throws DataError as ids_of_rows()
std::optional<IdDifference> first_id_difference(const std::filesystem::path& vectors_a, const std::filesystem::path& vectors_b,
                                                std::int64_t rows);

}  // namespace bertpretrain
