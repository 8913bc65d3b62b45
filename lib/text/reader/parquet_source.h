#pragma once
// The documents of a Parquet file: a row each.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/files/file_digest.h"
#include "core/files/temporary_file.h"
#include "text/formats/parquet_file.h"
#include "text/reader/document_source.h"

namespace bertpretrain {

/// A Parquet file that can be read at any offset, because its directory is at its end.
struct ParquetInput {
    std::filesystem::path path;
    std::string name;                        ///< for messages
    std::shared_ptr<TemporaryFile> copy{};   ///< what `path` names if the input is compressed or a pipe; else null
    std::shared_ptr<ParquetBytes> object{};  ///< what is read instead of `path` if the input is an object in a store; else null
};

/// @param content of the file, from its first byte; unpacked into a temporary file (in TMPDIR) if the file itself is compressed
/// or neither a regular one nor an object  @param digest has the first bytes of an object, and gets those that are read in order;
/// may be null  @throws DataError when it is damaged, or the temporary file cannot be written; ConfigError when TMPDIR is no
/// folder; of an object what RemoteObject throws
ParquetInput parquet_input(const std::filesystem::path& file, std::string name, Content& content,
                           std::shared_ptr<RunningDigest> digest);

/// Adds about `bytes` of the texts with which the file begins to a sample.
void add_sample(const ParquetInput& input, std::size_t bytes, const InputSettings& settings, LayoutSample& sample);

/// Reads the columns that the settings name. A row whose texts or id are null, or whose text is not UTF-8, is a bad record.
class ParquetSource : public DocumentSource {
public:
    /// @throws DataError when the file is damaged, lacks a column or has one of another type, and without Arrow
    ParquetSource(ParquetInput input, TextLayout::Lines lines, const InputSettings& settings);

    bool next(DocumentChunk& chunk) override;
    std::uint64_t bytes_read() const override;

private:
    bool add_row(DocumentBatch& batch, std::size_t& bytes);
    std::string problem_of(const ParquetRow& row, const std::string& text) const;

    ParquetInput input_;
    TextLayout::Lines lines_;
    std::vector<std::string> text_fields_;
    std::string id_field_;
    std::unique_ptr<ParquetFile> file_;
    std::uint64_t row_ = 0, rows_ = 0, bytes_ = 0;
};

}  // namespace bertpretrain
