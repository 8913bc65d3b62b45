#pragma once
// Decides what format a file has, by its content.

#include <string>
#include <string_view>

#include "text/formats/input_settings.h"

namespace bertpretrain {

struct DocumentFormat {
    enum class Kind { text, jsonl, table, parquet, wikipedia, fasta };
    Kind kind = Kind::text;
    char delimiter = ',';  ///< of a table: a comma, a semicolon or a tab; of JSONL: what separates records, "\n" or RS (RFC 7464)

    static constexpr std::size_t plain_kinds = 4;  ///< those before wikipedia, whose texts have lines to be judged
    bool has_layout() const { return static_cast<std::size_t>(kind) < plain_kinds; }
};

/// Number of bytes that format_of() should see, fewer only if the file is shorter.
inline constexpr std::size_t format_head_bytes = std::size_t{1} << 20;

/// Returns the first bytes of a source or content for format_of(). Small files take little memory.
template <class Source>
std::string_view format_head(Source& source) {
    constexpr std::size_t few = 4096;
    const std::string_view head = source.peek(few);
    return head.size() < few ? head : source.peek(format_head_bytes);
}

/// Whether a file that begins with these bytes is Parquet.
bool is_parquet(std::string_view head);

/// Returns the format of a file that begins with `head`, decompressed and (except dumps and Parquet) converted to UTF-8.
/// - "PAR1": Parquet.
/// - A first element <mediawiki>, <page> with a title, or <doc id=>: a dump, a piece of one, or WikiExtractor's output.
/// - A header ">name", then lines of letters: FASTA (fasta_records.h).
/// - Most of the first thousand lines are JSON objects (json_shape.h), or a name such as corpus.jsonl: JSONL.
/// - A line "sep=;" (separator_line.h) names the separator of the table after it.
/// - A first record with a field called like the text field: CSV or TSV. So are files of these names, and records that all have
///   the same number of fields, with names in the first one; they lack the text field, which is reported later.
/// - Text otherwise, Markdown and code included.
/// @param settings its format, if not "auto", is taken instead, and checked  @param name the file's, for messages
/// @throws DataError naming the format when it has no documents that can be read, with what to do
DocumentFormat format_of(std::string_view head, const std::string& name, const InputSettings& settings);

/// Whether a file begins as a dump or Parquet, which have an encoding of their own. Does not throw: another file is judged after
/// its conversion. @param head in UTF-8, as far as it could be converted
bool has_own_encoding(std::string_view head, const std::string& name, const InputSettings& settings);

/// A name for messages: "plain text", "JSONL", "CSV or TSV", "Parquet", "a Wikipedia dump", "FASTA".
std::string_view name_of(DocumentFormat::Kind kind);

}  // namespace bertpretrain
