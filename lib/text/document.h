#pragma once
// A document of a corpus, independent of the file format that it comes from.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "text/extract_counts.h"

namespace bertpretrain {

struct Document {
    std::uint64_t line =
        0;             ///< of its file (decompressed), where it begins; of Parquet: its row, from 1; 0: unknown, as in dumps
    std::string id;    ///< the value of the id field; empty: none
    std::string text;  ///< UTF-8; each line ended by "\n", none of them blank; empty if the document has no text
};

/// A record that cannot be used.
struct BadRecord {
    std::uint64_t line = 0;  ///< as a document's
    std::string problem;
    std::string cause =
        {};  ///< records with the same one are reported once, with the first one's problem; empty: each of its own
};

/// Consecutive documents of one file.
struct DocumentBatch {
    std::string file;                  ///< for messages
    bool lines_are_sentences = false;  ///< false: a line is a paragraph
    std::vector<Document> documents;
    ExtractCounts counts;        ///< only pages, redirects and other_pages are set
    std::int64_t records = 0;    ///< of JSONL, CSV, TSV and Parquet: records read, malformed ones included
    std::vector<BadRecord> bad;  ///< the malformed ones
    std::map<std::string, std::int64_t> records_with_field;  ///< of JSONL with several text fields: how many records have each
};

}  // namespace bertpretrain
