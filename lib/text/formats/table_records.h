#pragma once
// Records of CSV and TSV files. In CSV (RFC 4180), fields between quotes may hold delimiters, line breaks and doubled quotes. In
// TSV (text/tab-separated-values), a line is a record and quotes are ordinary characters, as in the files of GLUE, whose texts
// begin with quotes that no other closes. Read as CSV, such a quote would swallow the lines up to the next one. TSV that a
// program wrote with quotes around line breaks shows by lines with too few fields.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

struct TableRecord {
    std::size_t end = 0;          ///< position after the record and its line break
    const char* fault = nullptr;  ///< why it is malformed; its fields are then incomplete
    bool is_cut = false;          ///< the text ends before a line break ends the record
};

/// Reads the record that begins at `begin`. A record with a fault ends after its first line, so that the next lines are tried as
/// records. A quote inside a field that does not begin with one is an ordinary character.
/// @param fields receives the values, without their quotes; null: only the record's end is wanted
TableRecord read_table_record(std::string_view text, std::size_t begin, char delimiter, std::vector<std::string>* fields);

}  // namespace bertpretrain
