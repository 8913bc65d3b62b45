#pragma once
// Reads the documents of any mix of files, folders, objects in stores and standard input, in a deterministic order and with
// bounded memory.

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/files/file_digest.h"
#include "core/threads/task_pool.h"
#include "text/formats/bad_records.h"
#include "text/formats/input_settings.h"
#include "text/reader/document_source.h"
#include "text/reader/parquet_source.h"

namespace bertpretrain {

class PeekableContent;

/// Recognises the compression and the format of each file by its content. Decides once per format, from a sample of the files,
/// what a line of text is (text_layout.h), and logs it. The sample is 1 MiB, and up to 64 MiB where records are that long. The
/// pool parses and splits sentences several chunks ahead.
///
///     DocumentReader reader(inputs, settings, pool);
///     while (std::optional<DocumentBatch> batch = reader.next()) ...
///
/// The documents do not depend on the number of threads. Memory: two chunks (about 1 MiB) per thread, up to `most_bytes_ahead`,
/// or one document, which may take 64 MiB; learning Punkt: 64 MiB of text.
class DocumentReader {
public:
    static constexpr std::size_t most_bytes_ahead = std::size_t{48} << 20;

    /// Reads a sample from up to 16 files, but not from pipes. @param pool must outlive this
    /// @throws ConfigError when an input is given twice, or the encoding is unknown  @throws DataError when an input is missing
    DocumentReader(const std::vector<std::filesystem::path>& inputs, InputSettings settings, TaskPool& pool,
                   std::size_t bytes_ahead = most_bytes_ahead);
    DocumentReader(const DocumentReader&) = delete;
    DocumentReader& operator=(const DocumentReader&) = delete;
    ~DocumentReader();

    /// Returns the next documents, which have sentences as lines; nullopt after the last ones. A batch may be empty.
    /// @throws DataError after the documents before it, when a file is damaged, not UTF-8, of an unknown format, or has a
    /// document or record of more than 64 MiB; when all files are empty; and when more than `most_bad` of all records are
    /// malformed
    std::optional<DocumentBatch> next();

    /// Reads only the files from `first` up to `end`, with the documents that they have among all files: what a line is and what
    /// Punkt learns still come from all. Call it before next(), which then leaves it to the caller to refuse files that are all
    /// empty, and malformed records unless 1,000 are most of those read so far. The files must be readable more than once.
    void read_only(std::size_t first, std::size_t end);

    /// Leaves out the files before `first`, which an earlier process has read; `earlier` are the records that it counted. Call it
    /// after read_only(). What is said there of documents and files holds here, too.
    void go_on_from(std::size_t first, const RecordCounts& earlier);

    /// Returns the number of files whose documents were all returned, if next() has just returned the last ones of a file.
    std::optional<std::size_t> whole_files() const;

    /// Hashes the files while they are read. Call it before next(). A Parquet file is read once more, because its parts are read
    /// in any order; of an object only what was not read in order.
    void digest_files() { digests_files_ = true; }
    /// The digests of the files that are read, each with what its record of lineage names as its origin (text_lineage.h).
    /// Complete after the last documents.
    const std::vector<FileDigest>& digests() const { return digests_; }

    /// All files in order, those of folders included.
    const std::vector<std::filesystem::path>& files() const { return files_; }
    /// Whether all inputs are uncompressed files of plain text with one sentence per line and an empty line after each document,
    /// which other code may read without this class, so none is an object in a store. Looks at the beginning of each file.
    bool is_sentence_text();

    const BadRecords& bad_records() const { return bad_; }
    std::uint64_t bytes_read() const;                           ///< (compressed) bytes read from the files
    std::uint64_t total_bytes() const { return total_bytes_; }  ///< of the files that are read; 0: unknown

private:
    static constexpr std::size_t plain_kinds = DocumentFormat::plain_kinds;
    using LayoutSamples = std::array<LayoutSample, plain_kinds>;

    struct InWork {
        std::future<DocumentBatch> batch;
        std::size_t file;  ///< its place in files_
        std::size_t bytes = 0;
    };
    struct Opened {
        std::unique_ptr<PeekableContent> content;
        std::string name;
        std::optional<DocumentFormat> format;  ///< of an empty file: none
        std::optional<ParquetInput> parquet;   ///< if it is such a file
    };

    Opened open(const std::filesystem::path& file, const std::shared_ptr<RunningDigest>& digest = nullptr);
    void take_sample();
    LayoutSamples sample_of_files(std::size_t bytes);
    bool sample(Opened& opened, std::size_t bytes, LayoutSample& sample) const;
    LayoutSample sample_of(Opened& opened, bool& is_all) const;
    void decide(DocumentFormat::Kind kind, const LayoutSample& sample);
    bool read_chunk(DocumentChunk& chunk);
    bool open_next();
    void count_format(const Opened& opened);
    LayoutSample sample_before(DocumentFormat::Kind kind);
    TextLayout layout_of(Opened& opened);
    bool reads_all() const { return first_ == 0 && end_ == files_.size(); }
    void warn_of_odd_files() const;
    void end_file();
    std::unique_ptr<DocumentSource> source_of(Opened opened);
    bool is_full() const;
    void fill();
    DocumentBatch take();
    void learn();
    void submit(DocumentChunk chunk);

    InputSettings settings_;
    TaskPool& pool_;
    std::size_t bytes_ahead_;
    std::vector<std::filesystem::path> files_;
    std::size_t first_ = 0, end_;  ///< of the files that are read
    bool is_part_ = false;         ///< whether another process may read others
    std::size_t returned_ = 0;     ///< the file of the last documents that next() returned
    std::uint64_t total_bytes_;
    SplitSentences split_;                                        ///< empty until Punkt has learned
    std::array<std::optional<TextLayout>, plain_kinds> layouts_;  ///< by DocumentFormat::Kind, once a text of it was seen
    std::array<bool, plain_kinds> looked_before_ = {};            ///< whether the files before first_ were, for a text of it
    std::size_t opened_ = 0;                                      ///< the next file to open
    std::size_t empty_files_ = 0;
    std::string first_empty_;  ///< name of the first empty file
    struct FormatsInFolder {
        std::size_t texts = 0, records = 0;  ///< files of plain text; of JSONL, tables, Parquet and FASTA
        std::string first_text;              ///< its name
    };
    std::map<std::filesystem::path, FormatsInFolder> formats_;
    std::unique_ptr<DocumentSource> source_;
    bool digests_files_ = false;
    std::shared_ptr<RunningDigest> digest_;  ///< of the file that is being read
    bool may_have_origin_ = false;           ///< whether a record of lineage is looked for: of objects, beside text only
    std::vector<FileDigest> digests_;
    std::uint64_t bytes_before_ = 0;
    std::optional<DocumentChunk> large_;  ///< a chunk that is parsed alone, after all before it
    std::deque<InWork> in_work_;
    std::size_t bytes_in_work_ = 0;
    bool works_alone_ = false, ended_ = false;
    std::exception_ptr failure_;  ///< thrown after all documents before it were returned
    BadRecords bad_;
};

}  // namespace bertpretrain
