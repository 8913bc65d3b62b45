#pragma once
// FASTA: a header line that begins with ">", then lines of letters, for each sequence of DNA, RNA or a protein.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/document.h"

namespace bertpretrain {

/// Whether a text begins as FASTA: a line ">name", then lines of letters, "*", "-" and "."; ";" begins a comment.
/// @param head its first bytes, with "\n" as line end
bool is_fasta(std::string_view head);

/// Whether a text begins as FASTQ: four lines per sequence, "@name", letters, "+", and as many marks of quality.
bool is_fastq(std::string_view head);

/// Turns the text of a FASTA file into documents. A document's text is one line with the record's letters, in capitals because
/// small letters only mark repeats; its id is the first word of the header.
class FastaRecords {
public:
    /// A longer sequence becomes several documents of this many letters, so that a chromosome can be held out in part. From the
    /// second on, their ids end with the number of their first letter: "chr1:100001".
    static constexpr std::size_t most_letters = 100'000;

    /// @param letters_apart whether a space stands between the letters, which makes each letter a word
    explicit FastaRecords(bool letters_apart) : letters_apart_(letters_apart) {}

    /// Adds the next part of the file, which may end inside a line. Appends documents that end in it to `batch`, and records
    /// without letters or with other characters as bad records.
    void add(std::string_view text, DocumentBatch& batch);
    /// Call it at the end of the file.
    void finish(DocumentBatch& batch);

private:
    enum class LineKind { unknown, header, comment, sequence };

    void end_line(DocumentBatch& batch);
    void begin_record(DocumentBatch& batch);
    void end_record(DocumentBatch& batch);
    void add_letters(std::string_view letters, DocumentBatch& batch);
    void add_document(DocumentBatch& batch);
    void refuse(std::string problem, DocumentBatch& batch);

    bool letters_apart_;
    LineKind kind_ = LineKind::unknown;  ///< of the current line
    std::uint64_t line_ = 1, record_line_ = 0;
    std::string header_, id_, letters_;
    std::uint64_t first_letter_ = 1;  ///< number of the first of letters_ in its record
    bool has_record_ = false, is_bad_ = false;
};

}  // namespace bertpretrain
