#pragma once
// Writes vectors and the ids of their texts as a Parquet file.

#include <filesystem>

namespace bertpretrain {

/// Writes a whole Parquet file of the vectors of a .npy file. @param npy its rows  @param ids a JSON string per line
/// (text_ids.h), as many as rows; empty: no ids
/// @throws DataError with the file and the reason; also without Arrow
void write_parquet_vectors(const std::filesystem::path& file, const std::filesystem::path& npy, const std::filesystem::path& ids);

}  // namespace bertpretrain
