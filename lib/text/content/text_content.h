#pragma once
// The one way in which bytes become text: UTF-8 without a byte order mark, with "\n" at the end of each line.

#include <memory>
#include <optional>
#include <utility>

#include "core/utf8_check.h"
#include "text/content/content.h"
#include "text/line_ends.h"

namespace bertpretrain {

/// Reads UTF-8: leaves out a byte order mark, converts line ends (line_ends.h), and refuses bytes that are not UTF-8.
class TextContent : public Content {
public:
    /// @param check refuses what is not UTF-8; none: for records that are judged one by one, or for content that was converted
    explicit TextContent(std::unique_ptr<Content> content, std::optional<Utf8Check> check = {})
        : content_(std::move(content)), check_(std::move(check)) {}

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
