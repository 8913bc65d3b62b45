#pragma once
// The one way in which bytes become text: UTF-8 without a byte order mark, with "\n" at the end of each line.

#include <memory>
#include <optional>
#include <string>

#include "core/utf8_check.h"
#include "text/content.h"
#include "text/line_ends.h"

namespace bertpretrain {

/// Reads UTF-8: leaves out a byte order mark, converts line ends (line_ends.h), and refuses bytes that are not UTF-8.
class TextContent : public Content {
public:
    enum class Utf8 { checked, unchecked };

    /// @param name the file's, for messages
    /// @param utf8 unchecked: for records that are judged one by one, or for content that was converted to UTF-8
    TextContent(std::unique_ptr<Content> content, const std::string& name, Utf8 utf8 = Utf8::checked);

    /// @param size at least 3 @throws DataError naming the first byte that is not UTF-8, by its offset in the content
    std::size_t read(char* into, std::size_t size) override;
    std::uint64_t bytes_read() const override { return content_->bytes_read(); }

private:
    std::size_t read_mark(char* into, std::size_t size);

    std::unique_ptr<Content> content_;
    std::optional<Utf8Check> check_;
    LineEnds line_ends_;
    bool began_ = false;
};

}  // namespace bertpretrain
