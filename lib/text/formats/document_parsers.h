#pragma once
// Turns chunks of text, JSONL and tables into documents, whose texts are as they stand in the file.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "text/document.h"
#include "text/formats/record_fields.h"
#include "text/formats/text_chunks.h"
#include "text/formats/text_layout.h"

namespace bertpretrain {

/// Appends the documents of plain text. @param documents what separates them
void parse_plain_text(const TextChunk& chunk, TextLayout::Documents documents, DocumentBatch& batch);

/// Appends the documents of JSONL. A record that is not a JSON object, lacks a field, or whose text is not a string is a bad
/// record. Of several text fields, those that are missing or null are left out, and one must remain. @param separator what stands
/// between records: "\n", or RS (RFC 7464), which then stands before each, too
void parse_jsonl(const TextChunk& chunk, const RecordFields& fields, char separator, DocumentBatch& batch);

/// The columns of a table.
struct TableColumns {
    std::size_t count = 0;
    std::vector<std::size_t> texts;  ///< joined by line ends
    std::optional<std::size_t> id;
    char delimiter = ',';
    std::vector<std::string> names = {};
};

/// Reads a table's header. @param file its name @throws DataError when it lacks a field, naming those that it has
TableColumns read_header(const std::string& header, char delimiter, const RecordFields& fields, const std::string& file);

/// Appends the documents of a table, without its header. A record with a fault, with more or fewer fields than the header, or
/// with a text that is not UTF-8 is bad.
void parse_table(const TextChunk& chunk, const TableColumns& columns, DocumentBatch& batch);

}  // namespace bertpretrain
