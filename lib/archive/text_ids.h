#pragma once
// A file with the ids of texts in order: a JSON string per line, so that an id may hold any character.

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace bertpretrain {

/// Writes a text as a line that TextIds, or any reader of JSON, can read. @param text UTF-8
void write_as_json_line(std::ostream& out, std::string_view text);
/// Returns the text that such a line holds. @throws DataError naming the file
std::string text_of_json_line(std::string_view line, const std::filesystem::path& file);

/// Reads such a file from its beginning.
class TextIds {
public:
    /// @throws DataError when the file cannot be read
    explicit TextIds(std::filesystem::path file);
    /// Returns the next `count` ids, fewer only at the end. @throws DataError when a line is no JSON string
    std::vector<std::string> next(std::size_t count);

private:
    std::filesystem::path file_;
    std::ifstream in_;
};

/// Writes the ids as plain text, one per line. @throws DataError naming the row of an id with a line break in it
void write_ids_as_text(const std::filesystem::path& ids, const std::filesystem::path& output);

}  // namespace bertpretrain
