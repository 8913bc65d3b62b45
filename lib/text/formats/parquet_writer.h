#pragma once
// Writes Parquet files of vectors, by the module that also reads Parquet files (parquet_file.h).

#include <cstdint>
#include <span>
#include <string>

namespace bertpretrain {

/// A Parquet file that is being written: a column "id" of strings, where there are ids, and a column "vector" of lists of float32
/// of fixed length. Its functions throw exceptions of Arrow or the standard library, with the reason.
class ParquetVectors {
public:
    ParquetVectors() = default;
    ParquetVectors(const ParquetVectors&) = delete;
    ParquetVectors& operator=(const ParquetVectors&) = delete;
    virtual ~ParquetVectors() = default;

    /// Appends rows as a row group. @param ids as many as rows, or none where the file has no ids
    virtual void add(std::span<const float> rows, std::span<const std::string> ids) = 0;
    /// Completes the file. Call it once, last.
    virtual void close() = 0;
};

/// The type and name of the function that the module exports.
using CreateParquetVectors = ParquetVectors*(const std::string& file, std::int64_t columns, bool has_ids);
inline constexpr const char* parquet_vectors_symbol = "bertpretrain_create_parquet_vectors";

}  // namespace bertpretrain
