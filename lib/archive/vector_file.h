#pragma once
// Files that hold one fp32 matrix, whose rows any number of processes may write in any order.

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace bertpretrain {

enum class VectorFormat { npy, h5, parquet };

/// Returns the format for a file name's ending: .npy, .h5, .hdf5 or .parquet. @throws ConfigError for other endings
VectorFormat vector_format_of(const std::filesystem::path& file);

struct MatrixShape {
    std::int64_t rows = 0, columns = 0;
};

/// The name of the dataset of ids in an h5 file, beside the matrix.
inline constexpr const char* ids_dataset = "ids";

/// Returns the file beside an .npy file that has the rows' ids, a line each: vectors.npy has vectors.ids.txt.
std::filesystem::path ids_beside(const std::filesystem::path& npy);

/// Creates the file with space for all rows, so that a full disk is noticed before the computation starts.
/// @param dataset,attributes for h5 files: the name of the matrix and the attributes stored with it
/// @param ids for h5 files: a file of ids (text_ids.h), which become the dataset "ids" of strings; empty: none
/// @param format npy or h5
/// @returns the first row's offset in bytes; the little-endian rows follow each other without gaps
/// @throws DataError with the file and the reason
std::uint64_t create_vector_file(const std::filesystem::path& file, VectorFormat format, const MatrixShape& shape,
                                 const std::string& dataset, const std::map<std::string, std::string>& attributes,
                                 const std::filesystem::path& ids = {});

/// Writes and reads at given offsets of an existing file.
class PlacedWrites {
public:
    /// @throws DataError with the file and the reason, as all members do
    explicit PlacedWrites(std::filesystem::path file);
    PlacedWrites(const PlacedWrites&) = delete;
    PlacedWrites& operator=(const PlacedWrites&) = delete;
    ~PlacedWrites();

    void write(std::uint64_t offset, std::span<const std::byte> bytes);
    void read(std::uint64_t offset, std::span<std::byte> bytes) const;
    void flush();

private:
    [[noreturn]] void fail(const char* what) const;

    std::filesystem::path file_;
    int handle_;
};

}  // namespace bertpretrain
