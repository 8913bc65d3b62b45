#pragma once
// Reads small or line-oriented text files: vocabularies, labelled texts, lines of standard input.
// Corpora are read by document_reader.h, in the same way.

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "text/content/content.h"

namespace bertpretrain {

/// Opens an uncompressed file or standard input ("-") as text: UTF-8 without a byte order mark, with "\n" as line end. UTF-16 and
/// UTF-32 are read if a byte order mark names them. Reads no further than needed, so lines of a terminal arrive at once.
/// @throws DataError when the file is missing, a folder, compressed or a container (foreign_file.h); read() throws it at a byte
/// that is not UTF-8, naming its offset
std::unique_ptr<Content> open_text(const std::filesystem::path& file);

/// Returns a whole file as text. @throws DataError like open_text()
std::string read_text_file(const std::filesystem::path& file);

/// Returns the text that a file's bytes hold. @param name the file's, for messages @throws DataError like open_text()
std::string text_of_bytes(std::string_view bytes, const std::string& name);

/// Reads text line by line.
///
///     TextLines lines(standard_input);
///     for (std::string line; lines.next(line);) ...
class TextLines {
public:
    explicit TextLines(const std::filesystem::path& file) : content_(open_text(file)) {}

    /// Reads the next line, without its line end; returns false after the last one. @throws DataError like open_text()
    bool next(std::string& line);

private:
    std::unique_ptr<Content> content_;
    std::string pending_;  ///< text that was read; lines not yet returned begin at used_
    std::size_t used_ = 0;
};

}  // namespace bertpretrain
