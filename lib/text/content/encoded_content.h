#pragma once
// Converts text from another encoding to UTF-8.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "text/content/content.h"

namespace bertpretrain {

class EncodedContent : public Content {
public:
    enum class NamedBy { option, mark };  ///< --encoding, or a byte order mark

    /// @param name the file's, for messages  @param encoding one that check_encoding() accepts
    EncodedContent(std::unique_ptr<Content> content, std::string name, std::string encoding, NamedBy named_by = NamedBy::option);
    ~EncodedContent() override;

    /// @throws DataError naming the first byte that the encoding does not have, or a character that the file's end cuts; and for
    /// text that is UTF-8 already, which --encoding would garble
    std::size_t read(char* into, std::size_t size) override;
    std::uint64_t bytes_read() const override { return content_->bytes_read(); }

private:
    bool convert();
    bool fill();
    void refuse_utf8(std::string_view added, bool is_end);

    std::unique_ptr<Content> content_;
    std::string name_, encoding_;
    NamedBy named_by_;
    bool may_be_utf8_;       ///< what was read so far is UTF-8, and --encoding names another encoding
    std::int64_t wide_ = 0;  ///< characters of several bytes in it
    std::string unchecked_;  ///< the beginning of a character that the bytes read so far cut
    void* converter_;
    bool has_flushed_ = false;
    std::string encoded_;  ///< bytes that are not yet converted begin at used_
    std::size_t used_ = 0;
    std::uint64_t offset_ = 0;  ///< of encoded_ in the content
    std::string converted_;     ///< bytes that read() has not yet returned begin at returned_
    std::size_t returned_ = 0;
};

/// Converts the beginning of a text to UTF-8, up to the first bytes that the encoding does not have.
std::string converted_head(std::string_view head, const std::string& encoding);

/// @throws ConfigError when this system's iconv does not know the encoding; "latin-1" and "latin1" are the same
void check_encoding(const std::string& encoding);

}  // namespace bertpretrain
