#pragma once
// Reads a matrix of vectors from a file that `embed` or NumPy or h5py wrote, a range of rows at a time.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "archive/vector_file.h"

namespace bertpretrain {

/// A file's matrix, converted to fp32.
class VectorReader {
public:
    /// Opens a .npy file with a C-ordered little-endian matrix of fp32 or fp64, or an .h5 file with exactly one dataset at its
    /// root besides "ids", a matrix of floating-point numbers.
    /// @throws ConfigError for another ending; DataError naming the file, what was found and what was expected
    static std::unique_ptr<VectorReader> open(const std::filesystem::path& file);
    /// The same for a .npy file of any name.
    static std::unique_ptr<VectorReader> open_npy(const std::filesystem::path& file);
    virtual ~VectorReader() = default;

    const MatrixShape& shape() const { return shape_; }
    /// Reads the rows [first, first + rows.size() / columns). @throws DataError when the file cannot be read
    virtual void read(std::int64_t first, std::span<float> rows) const = 0;
    /// Returns all rows where the file has them as plain fp32, mapped into memory; else an empty span.
    virtual std::span<const float> mapped() const { return {}; }
    /// Returns the attributes of an .h5 file's matrix that are strings of variable length, as `embed` writes them; of an .npy
    /// file, none. Attributes that cannot be read are left out.
    virtual std::map<std::string, std::string> attributes() const { return {}; }

protected:
    MatrixShape shape_;
};

}  // namespace bertpretrain
