#include "text/content/text_content.h"

#include <string_view>
#include <utility>

#include "core/error.h"
#include "text/content/byte_order_mark.h"

namespace bertpretrain {

/// Reads until the bytes show whether they begin with a byte order mark.
std::size_t TextContent::read_mark(char* into, std::size_t size) {
    check(size >= utf8_mark.size(), "a byte order mark fits into the buffer");
    for (std::size_t filled = 0;;) {
        const std::size_t count = content_->read(into + filled, size - filled);
        filled += count;
        const std::string_view start = std::string_view(into, filled).substr(0, utf8_mark.size());
        if (count == 0 || start.size() == utf8_mark.size() || !utf8_mark.starts_with(start)) return filled;
    }
}

std::size_t TextContent::read(char* into, std::size_t size) {
    for (;;) {
        const bool is_first = !std::exchange(began_, true);
        std::size_t count = is_first ? read_mark(into, size) : content_->read(into, size);
        if (check_) count == 0 ? check_->finish() : check_->add({into, count});
        if (count == 0) return 0;
        if (is_first && std::string_view(into, count).starts_with(utf8_mark)) {
            count -= utf8_mark.size();
            std::char_traits<char>::move(into, into + utf8_mark.size(), count);
        }
        count = line_ends_.convert(into, count);
        if (count > 0) return count;
    }
}

}  // namespace bertpretrain
