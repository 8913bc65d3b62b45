#pragma once
// Files of one matrix, rows of fp32, whose rows may be written in any order by any number of processes.

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace bertpretrain {

enum class VectorFormat { npy, h5 };

/// By the ending of a file's name: .npy, .h5 or .hdf5. @throws ConfigError for others
VectorFormat vector_format_of(const std::filesystem::path& file);

struct MatrixShape {
    std::int64_t rows = 0, columns = 0;
};

/// Makes the file with room for all rows, so that a full disk is found before the work.
/// @param dataset,attributes of an h5 file: the matrix's name, and what is written beside it
/// @returns the first row's offset in bytes; the rows lie behind it one after the other, little-endian
/// @throws DataError naming the file and the reason
std::uint64_t create_vector_file(const std::filesystem::path& file, VectorFormat format, const MatrixShape& shape,
                                 const std::string& dataset, const std::map<std::string, std::string>& attributes);

/// An existing file that rows and numbers are written into.
class PlacedWrites {
public:
    /// @throws DataError naming the file and the reason, as all members do
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
