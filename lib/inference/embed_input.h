#pragma once
// Recognizes the format of what `embed` reads, and gets the texts of its records.

#include <cstddef>
#include <filesystem>
#include <string>

#include "text/formats/input_settings.h"

namespace bertpretrain {

/// What an input's texts are read from.
struct EmbedInput {
    std::filesystem::path file;   ///< lines of plain text, or JSON strings, one per line
    bool are_records = false;     ///< whether it has JSON strings
    std::filesystem::path ids{};  ///< the records' ids as JSON strings, one per line; empty: none
    std::string name{};           ///< for messages
};

/// The files that prepare_embed_input() may leave in its folder.
inline constexpr const char* embed_input_files[] = {"input", "texts", "ids"};
/// Where prepare_embed_inputs() keeps them of one file at a time.
inline constexpr const char* embed_part_folder = "part";

/// Recognizes the format by content, as `shard` does. Plain text stays where it is, unless it is compressed, standard input, in
/// settings.encoding or an object in a store, which become FOLDER/input. The texts of JSONL, CSV, TSV, Parquet and FASTA, and the
/// articles of dumps, are written to FOLDER/texts as they stand in the records, and the ids of FASTA and of settings.id_field to
/// FOLDER/ids. With settings.letters "apart", so are the lines of plain text. Logs a warning where fewer than half of
/// settings.id_field's ids are distinct.
/// @param input a file, the address of an object, or "-": standard input  @param asks_for_fields whether a text or id field was
/// named
/// @throws ConfigError where fields were named and the input is plain text, and for an unknown encoding
/// @throws DataError like DocumentReader, and when a single record is malformed, because each record has its row
EmbedInput prepare_embed_input(const std::filesystem::path& input, InputSettings settings, bool asks_for_fields,
                               const std::filesystem::path& folder, std::size_t threads);

/// Reads the beginning of a file, about 4 MiB, as prepare_embed_input() does without options. @throws DataError like it
void check_embed_input(const std::filesystem::path& input);

}  // namespace bertpretrain
