#include "text/content/encoded_content.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <iconv.h>

#include "core/error.h"
#include "core/utf8_check.h"
#include "text/content/bytes_in_memory.h"

namespace bertpretrain {
namespace {

constexpr std::size_t encoded_bytes = std::size_t{1} << 18;

iconv_t no_converter() { return reinterpret_cast<iconv_t>(-1); }

/// Opens iconv for the name, or for the name without its hyphens and underscores.
iconv_t open_converter(const std::string& encoding) {
    std::string plain = encoding;
    plain.erase(std::remove_if(plain.begin(), plain.end(), [](char c) { return c == '-' || c == '_'; }), plain.end());
    const iconv_t converter = ::iconv_open("UTF-8", encoding.c_str());
    return converter != no_converter() ? converter : ::iconv_open("UTF-8", plain.c_str());
}

bool is_name_of_utf8(std::string name) {
    std::erase_if(name, [](char c) { return c == '-' || c == '_'; });
    return name == "utf8" || name == "UTF8";
}

/// Returns how many bytes at the end of a text begin a character of UTF-8 that they do not complete.
std::size_t cut_bytes(std::string_view text) {
    for (std::size_t count = 1; count <= std::min<std::size_t>(3, text.size()); ++count) {
        const auto byte = static_cast<unsigned char>(text[text.size() - count]);
        if (byte < 0x80) return 0;
        if (byte < 0xC0) continue;
        const std::size_t whole = byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
        return count < whole ? count : 0;
    }
    return 0;
}

/// Text in another encoding is hardly ever UTF-8 from its beginning to so many characters of several bytes.
constexpr std::int64_t enough_wide = 2;

}  // namespace

void check_encoding(const std::string& encoding) {
    const iconv_t converter = encoding.empty() ? no_converter() : open_converter(encoding);
    if (converter == no_converter())
        throw ConfigError(
            concat("--encoding ", encoding, ": is not an encoding that this system knows; `iconv -l` lists those that it knows"));
    ::iconv_close(converter);
}

EncodedContent::EncodedContent(std::unique_ptr<Content> content, std::string name, std::string encoding, NamedBy named_by)
    : content_(std::move(content)),
      name_(std::move(name)),
      encoding_(std::move(encoding)),
      named_by_(named_by),
      may_be_utf8_(named_by == NamedBy::option && !is_name_of_utf8(encoding_)),
      converter_(open_converter(encoding_)) {
    check(converter_ != no_converter(), "the encoding ", encoding_, " is not known");
}

std::string converted_head(std::string_view head, const std::string& encoding) {
    EncodedContent content(std::make_unique<BytesInMemory>(head), "", encoding, EncodedContent::NamedBy::mark);
    std::string converted(3 * head.size() + 1, '\0');
    std::size_t filled = 0;
    try {
        while (const std::size_t count = content.read(converted.data() + filled, converted.size() - filled)) filled += count;
    } catch (const DataError&) {}  // at a character that the head's end cuts, or a wrong one
    converted.resize(filled);
    return converted;
}

EncodedContent::~EncodedContent() { ::iconv_close(converter_); }

bool EncodedContent::fill() {
    offset_ += used_;
    encoded_.erase(0, std::exchange(used_, 0));
    const std::size_t left = encoded_.size();
    encoded_.resize(left + encoded_bytes);
    encoded_.resize(left + content_->read(encoded_.data() + left, encoded_bytes));
    const std::string_view added = std::string_view(encoded_).substr(left);
    refuse_utf8(added, added.empty());
    return !added.empty();
}

void EncodedContent::refuse_utf8(std::string_view added, bool is_end) {
    if (!may_be_utf8_) return;
    unchecked_.append(added);
    const std::string_view whole =
        std::string_view(unchecked_).substr(0, unchecked_.size() - (is_end ? 0 : cut_bytes(unchecked_)));
    may_be_utf8_ = is_utf8(whole);
    wide_ += std::ranges::count_if(whole, [](char c) { return (c & '\xC0') == '\xC0'; });
    if (may_be_utf8_ && wide_ >= enough_wide)
        throw DataError(concat(name_, ": is UTF-8 already, and would be garbled by --encoding ", encoding_,
                               "\n  do: leave out --encoding; where other inputs need it, convert those first: iconv -f ",
                               encoding_, " -t UTF-8 FILE >NEW"));
    unchecked_.erase(0, whole.size());
}

/// Converts the next bytes; returns false at the end.
bool EncodedContent::convert() {
    converted_.resize(2 * encoded_bytes);
    returned_ = 0;
    for (;;) {
        char *in = encoded_.data() + used_, *out = converted_.data();
        std::size_t waiting = encoded_.size() - used_, room = converted_.size();
        errno = 0;
        if (waiting > 0) ::iconv(converter_, &in, &waiting, &out, &room);
        const bool is_wrong = waiting > 0 && errno == EILSEQ;
        used_ = encoded_.size() - waiting;
        converted_.resize(converted_.size() - room);
        if (!converted_.empty()) return true;
        converted_.resize(2 * encoded_bytes);
        if (is_wrong)
            throw DataError(concat(name_, ": byte ", offset_ + used_, " is not ", encoding_,
                                   named_by_ == NamedBy::option
                                       ? ", which --encoding names\n  do: name the encoding that the file has"
                                       : ", which its byte order mark names\n  do: get the file again, or convert it to UTF-8"));
        if (fill()) continue;
        if (used_ < encoded_.size())
            throw DataError(concat(name_, ": ends in the middle of a character of ", encoding_, ", at byte ", offset_ + used_));
        // Some encodings hold back a character, which the next one might change.
        out = converted_.data(), room = converted_.size();
        if (!std::exchange(has_flushed_, true)) ::iconv(converter_, nullptr, nullptr, &out, &room);
        converted_.resize(converted_.size() - room);
        return !converted_.empty();
    }
}

std::size_t EncodedContent::read(char* into, std::size_t size) {
    if (returned_ == converted_.size() && !convert()) return 0;
    const std::size_t count = std::min(size, converted_.size() - returned_);
    converted_.copy(into, count, returned_);
    returned_ += count;
    return count;
}

}  // namespace bertpretrain
