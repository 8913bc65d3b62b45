#pragma once
// Parquet files. The code that reads them is a shared object next to the program, opened only where an input is such a file, so
// that the program neither links nor needs Arrow.

#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

struct ParquetColumn {
    enum class Kind { text, integer, other };
    std::string name;  ///< of a nested column: with its parts' names, as in "data.list.element"
    Kind kind = Kind::other;
    std::string type;  ///< for messages
};

/// The chosen values of a row; nullopt: null, or no such column was chosen.
struct ParquetRow {
    std::vector<std::optional<std::string_view>> texts;  ///< in the order in which they were chosen
    std::optional<std::string_view> id;
};

/// An open file, whose row groups and pages are read one after the other. Memory: a page of each chosen column.
/// Its functions throw exceptions of Arrow or the standard library, with the reason, when the file is damaged.
class ParquetFile {
public:
    ParquetFile() = default;
    ParquetFile(const ParquetFile&) = delete;
    ParquetFile& operator=(const ParquetFile&) = delete;
    virtual ~ParquetFile() = default;

    virtual const std::vector<ParquetColumn>& columns() const = 0;
    virtual std::int64_t rows() const = 0;

    /// Chooses the columns that next() reads, which may not be of the kind "other". Call it once, before next().
    virtual void choose(const std::vector<std::size_t>& texts, std::optional<std::size_t> id) = 0;
    /// Reads the next row; returns false after the last one. Its values are valid until the next call.
    virtual bool next(ParquetRow& row) = 0;
};

/// The bytes of a file that is not on this machine.
class ParquetBytes {
public:
    ParquetBytes() = default;
    ParquetBytes(const ParquetBytes&) = delete;
    ParquetBytes& operator=(const ParquetBytes&) = delete;
    virtual ~ParquetBytes() = default;

    virtual std::uint64_t size() = 0;
    /// Reads up to `size` bytes; returns 0 only at the end. What it throws, the functions of ParquetFile throw.
    virtual std::size_t read_at(std::uint64_t offset, char* into, std::size_t size) = 0;
};

/// Opens the module and the file. @param name the file's, for messages  @param bytes what is read instead of the file; may be
/// null
/// @throws DataError when the module cannot be opened, with what to install, or the file is damaged
std::unique_ptr<ParquetFile> open_parquet(const std::filesystem::path& file, const std::string& name,
                                          std::shared_ptr<ParquetBytes> bytes = nullptr);

/// Throws the DataError for a damaged file. Call it in a catch clause. @param name the file's, for messages
[[noreturn]] void refuse_parquet(const std::string& name, const std::exception& error);

/// Returns a function of the module by its name.
/// @param without,instead for the message: "FILE: is ..., which this program reads", and what to do other than install Arrow
/// @throws DataError when the module cannot be opened
void* parquet_function(const char* symbol, const std::string& without, const std::string& instead);

/// The type, file and name of the function that the module exports.
using OpenParquet = ParquetFile*(const std::string& file, std::shared_ptr<ParquetBytes> bytes);
inline constexpr const char* parquet_module_file = "libbertpretrain_parquet.so";
inline constexpr const char* parquet_module_symbol = "bertpretrain_open_parquet";

}  // namespace bertpretrain
