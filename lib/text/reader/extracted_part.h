#pragma once
// The files of a part of a text that several processes extract: OUTPUT.part_2_of_4, which appears only when it is complete, and
// its record OUTPUT.part_2_of_4.json, which is there from the part's start until join_text() has made OUTPUT.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/files/file_digest.h"
#include "core/part.h"
#include "text/extract_counts.h"
#include "text/formats/bad_records.h"

namespace bertpretrain {

struct ExtractedPart {
    /// All that the text depends on, by the names of the options ("--lines": "auto"). Equal in all parts of a text.
    using Request = std::map<std::string, std::string>;

    Request request;
    std::int64_t minimum_sentences = 1;
    double most_bad = 0;
    std::optional<FileDigest> text = {};  ///< nullopt: the part is not complete, and what follows is not known
    std::vector<FileDigest> inputs = {};  ///< the files that were read
    ExtractCounts counts = {};
    RecordCounts records = {};
};

/// @throws nlohmann::json::exception and DataError when the JSON is no such part
nlohmann::ordered_json to_json(const ExtractedPart& part);
ExtractedPart read_extracted_part(const nlohmann::json& json, const std::string& where);

std::filesystem::path part_text_file(const std::filesystem::path& output, const Part& part);
std::filesystem::path part_record_file(const std::filesystem::path& output, const Part& part);

/// Returns the parts of a text that have a record, ordered by count and number.
std::vector<Part> parts_of_text(const std::filesystem::path& output);
/// @throws ConfigError when parts of `output` are there
void require_no_parts(const std::filesystem::path& output);
/// Returns the text to which the part belongs that `file` is the record of; nullopt for all other files.
std::optional<std::filesystem::path> text_with_part(const std::filesystem::path& file);

/// Returns nullopt if the part has no record, or one that is damaged or of another part.
std::optional<ExtractedPart> read_extracted_part(const std::filesystem::path& output, const Part& part);
/// Writes the record of a part that begins, in place, because FileLock has locked this file. @throws DataError
void begin_part_record(const std::filesystem::path& output, const Part& part, const ExtractedPart& record);
/// Writes the record atomically. @throws DataError
void write_part_record(const std::filesystem::path& output, const Part& part, const ExtractedPart& record);

/// Returns what differs first, as the end of a message ("--lines is wrapped, expected auto"); "" if nothing does.
std::string difference(const ExtractedPart::Request& found, const ExtractedPart::Request& expected);

}  // namespace bertpretrain
