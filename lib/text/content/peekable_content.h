#pragma once
// A content whose first bytes can be looked at before they are read.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "text/content/content.h"

namespace bertpretrain {

class PeekableContent : public Content {
public:
    explicit PeekableContent(std::unique_ptr<Content> content) : content_(std::move(content)) {}

    /// Returns the next `size` bytes without consuming them, fewer only at the end. Valid until the next call.
    std::string_view peek(std::size_t size) {
        constexpr std::size_t first_read = std::size_t{1} << 16;  // a small file takes no more memory
        std::size_t filled = head_.size();
        while (filled < size) {
            head_.resize(std::min(size, std::max(first_read, 2 * filled)));
            const std::size_t count = content_->read(head_.data() + filled, head_.size() - filled);
            if (count == 0) break;
            filled += count;
        }
        head_.resize(filled);
        return std::string_view(head_).substr(0, size);
    }

    std::size_t read(char* into, std::size_t size) override {
        if (used_ == head_.size()) return content_->read(into, size);
        const std::size_t count = std::min(size, head_.size() - used_);
        head_.copy(into, count, used_);
        used_ += count;
        return count;
    }
    std::uint64_t bytes_read() const override { return content_->bytes_read(); }

private:
    std::unique_ptr<Content> content_;
    std::string head_;
    std::size_t used_ = 0;  ///< bytes of head_ that read() returned; peek() may be called only before read()
};

}  // namespace bertpretrain
