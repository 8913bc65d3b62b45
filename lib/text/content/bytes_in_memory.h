#pragma once
// A content that lies in memory.

#include <string_view>

#include "text/content/content.h"

namespace bertpretrain {

class BytesInMemory : public Content {
public:
    /// @param bytes must outlive this object
    explicit BytesInMemory(std::string_view bytes) : bytes_(bytes) {}
    std::size_t read(char* into, std::size_t size) override {
        const std::size_t count = bytes_.copy(into, size, used_);
        used_ += count;
        return count;
    }
    std::uint64_t bytes_read() const override { return used_; }

private:
    std::string_view bytes_;
    std::size_t used_ = 0;
};

}  // namespace bertpretrain
