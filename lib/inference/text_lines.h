#pragma once
// A text file as numbered lines, in parts that can be worked on in any order.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bertpretrain {

/// Whole lines that adjoin each other.
struct TextPart {
    std::uint64_t offset = 0, bytes = 0;  ///< in the file, line ends included
    std::int64_t first_line = 0;          ///< counted from 0
    std::int64_t lines = 0;
};

struct PartSize {
    std::int64_t lines = 4096;
    std::uint64_t bytes = std::uint64_t{4} << 20;  ///< a part that has so many ends with the line
};

/// What a file holds. The parts follow from its bytes alone.
struct TextSurvey {
    std::filesystem::path file;
    std::uint64_t bytes = 0;
    std::uint32_t crc32 = 0;
    std::int64_t lines = 0;
    std::vector<TextPart> parts;
};

/// Reads the file once. A line ends at "\n"; the last one may lack it.
/// @throws DataError when it cannot be read or has no line, and naming the first line that is not UTF-8
TextSurvey survey_text(const std::filesystem::path& file, const PartSize& size = {});

/// The lines of one part, without their ends. @throws DataError when the file cannot be read or has changed its size
std::vector<std::string> read_lines(const TextSurvey& text, const TextPart& part);

}  // namespace bertpretrain
