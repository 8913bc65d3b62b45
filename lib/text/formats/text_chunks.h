#pragma once
// Splits the content of a file into chunks of whole units: lines, records, or documents between empty lines.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "text/content/content.h"
#include "text/content/text_content.h"

namespace bertpretrain {

struct TextChunk {
    std::string text;
    std::uint64_t first_line = 1;  ///< of its file
    bool is_too_large = false;     ///< the unit is larger than 64 MiB: it was skipped, and `text` is empty
};

class TextChunks {
public:
    /// Returns the size of the whole units with which `text` begins, 0 if there is none yet.
    /// @param ended whether nothing follows `text`
    using WholeUnits = std::function<std::size_t(std::string_view text, bool ended)>;

    static constexpr std::size_t largest_unit = std::size_t{64} << 20;

    /// Reads the content as text (text_content.h). @param name the file's, for messages  @param unit what a unit is called there
    /// @param checks_utf8 whether next() refuses bytes that are not UTF-8
    /// @param advice ends the message about a unit that is too large: what to do
    TextChunks(std::unique_ptr<Content> content, std::string name, std::string unit, bool checks_utf8, std::string advice = {});

    /// Reads the next chunk, about 1 MiB or one unit; returns false after the last one.
    /// @throws DataError when the file is damaged or not UTF-8, or a unit is larger than 64 MiB
    bool next(TextChunk& chunk, const WholeUnits& whole_units);
    /// From now on a unit that is too large is skipped up to the next `separator`, instead of refused.
    void skip_too_large_units(char separator) { separator_ = separator; }

    std::uint64_t bytes_read() const { return content_->bytes_read(); }

private:
    bool fill(std::size_t least);
    void skip_unit(char separator, TextChunk& chunk);

    std::unique_ptr<TextContent> content_;
    std::string name_, unit_, advice_, pending_;
    std::uint64_t line_ = 1;
    bool ended_ = false;
    std::optional<char> separator_;
};

/// Whole lines.
std::size_t whole_lines(std::string_view text, bool ended);
/// Lines up to the last empty one (white_space.h).
std::size_t whole_blocks(std::string_view text, bool ended);

}  // namespace bertpretrain
