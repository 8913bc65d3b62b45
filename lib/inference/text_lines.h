#pragma once
// Reads a text file as numbered lines, in parts that can be processed in any order.

#include <cstdint>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

namespace bertpretrain {

/// A range of whole, consecutive lines.
struct TextPart {
    std::uint64_t offset = 0, bytes = 0;  ///< in the file, line ends included
    std::int64_t first_line = 0;          ///< counted from 0
    std::int64_t lines = 0;
};

struct PartSize {
    std::int64_t lines = 4096;
    std::uint64_t bytes = std::uint64_t{4} << 20;  ///< a part ends with the line that reaches this size
};

/// The size, checksum and parts of a file. The parts depend only on its bytes and PartSize.
struct TextSurvey {
    std::filesystem::path file{};
    std::uint64_t bytes = 0;
    std::uint32_t crc32 = 0;
    std::int64_t lines = 0;
    std::vector<TextPart> parts{};
    /// Whether the file's lines are not its text's: it has a byte order mark, or lines that end with "\r". No line was read then;
    /// survey what write_as_lines() makes of it.
    bool must_convert = false;
    bool are_records = false;  ///< the lines are records' texts as JSON strings (embed_input.h)
    std::string name{};        ///< of the input, for messages
};

/// Reads the whole file once. A line ends with "\n" or "\r\n"; the last line may lack it.
/// @throws DataError when the file cannot be read, has no lines, is of another format (JSON, packed), or is not UTF-8 (names the
/// first such byte)
TextSurvey survey_text(const std::filesystem::path& file, const PartSize& size = {});
/// The same for a file of JSON strings, one per line, whose texts read_lines() returns. @param name of the input that they are
/// from
TextSurvey survey_records(const std::filesystem::path& file, const std::string& name, const PartSize& size = {});

/// Writes a file or standard input ("-") as UTF-8 with "\n" as line end, without a byte order mark.
/// @throws DataError like open_text() in read_text.h
void write_as_lines(const std::filesystem::path& file, std::ostream& out);

/// Returns the lines of one part, without line ends. @throws DataError when the file cannot be read or its lines have changed
std::vector<std::string> read_lines(const TextSurvey& text, const TextPart& part);

}  // namespace bertpretrain
