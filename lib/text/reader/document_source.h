#pragma once
// Splits a file into chunks of whole documents, which threads parse in parallel.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "text/content/content.h"
#include "text/document.h"
#include "text/formats/document_format.h"
#include "text/formats/text_layout.h"

namespace bertpretrain {

struct DocumentChunk {
    std::size_t bytes = 0;
    std::function<DocumentBatch()> parse;  ///< thread-safe; throws DataError
};

class DocumentSource {
public:
    DocumentSource() = default;
    DocumentSource(const DocumentSource&) = delete;
    DocumentSource& operator=(const DocumentSource&) = delete;
    virtual ~DocumentSource() = default;

    /// Reads the next chunk, about 1 MiB; returns false after the last one. @throws DataError when the file is damaged, is not
    /// UTF-8 or has a document or record of more than 64 MiB
    virtual bool next(DocumentChunk& chunk) = 0;

    /// Number of (compressed) bytes read from the file.
    virtual std::uint64_t bytes_read() const = 0;
};

/// Adds the whole lines or records with which a file that is not Parquet begins to a sample. A line of plain text that is cut
/// counts, too, where it takes most of the head.
/// @param head its first bytes, with "\n" as line end  @param is_all whether these are all
void add_sample(std::string head, bool is_all, const std::string& name, DocumentFormat format, const InputSettings& settings,
                LayoutSample& sample);

/// Makes the source of a file that is not Parquet.
/// @param content of the file, from its first byte  @param name the file's, for messages  @param settings must outlive the source
/// @throws DataError when a table lacks the text or id field
std::unique_ptr<DocumentSource> make_source(std::unique_ptr<Content> content, const std::string& name, DocumentFormat format,
                                            TextLayout layout, const InputSettings& settings);

}  // namespace bertpretrain
