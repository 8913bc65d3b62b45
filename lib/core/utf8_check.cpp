#include "core/utf8_check.h"

#include <cstring>

#include "core/error.h"

namespace bertpretrain {
namespace {

/// Returns the position of the first byte from `at` on that is not ASCII, up to seven bytes less.
std::size_t skip_ascii(std::string_view bytes, std::size_t at) {
    for (std::uint64_t eight = 0; at + sizeof eight <= bytes.size(); at += sizeof eight) {
        std::memcpy(&eight, bytes.data() + at, sizeof eight);
        if ((eight & 0x8080808080808080U) != 0) break;
    }
    return at;
}

}  // namespace

void Utf8Check::add(std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        if (missing_ == 0) {
            const std::size_t end = skip_ascii(bytes, at);
            offset_ += end - at;
            at = end;
        }
        for (std::size_t few = 0; few < sizeof(std::uint64_t) && at < bytes.size(); ++few, ++at)
            add_byte(static_cast<unsigned char>(bytes[at]));
    }
}

/// The ranges are those of well-formed UTF-8 (The Unicode Standard, table 3-7): no overlong forms, surrogates or numbers above
/// U+10FFFF.
void Utf8Check::add_byte(unsigned char byte) {
    if (missing_ > 0) {
        if (byte < least_ || byte > most_) refuse_byte(character_);
        --missing_;
        least_ = 0x80;
        most_ = 0xBF;
    } else if (byte >= 0x80) {
        character_ = offset_;
        if (byte < 0xC2 || byte > 0xF4) refuse_byte(offset_);
        missing_ = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
        if (byte == 0xE0) least_ = 0xA0;
        if (byte == 0xED) most_ = 0x9F;
        if (byte == 0xF0) least_ = 0x90;
        if (byte == 0xF4) most_ = 0x8F;
    }
    ++offset_;
}

void Utf8Check::finish() {
    if (missing_ > 0) refuse_byte(character_);
}

void Utf8Check::refuse_byte(std::uint64_t offset) const {
    throw DataError(concat(file_, ": byte ", offset, " is not UTF-8, expected UTF-8 text",
                           "\n  do: name the encoding that it has, for example `--encoding latin-1`, or convert the file"));
}

bool is_utf8(std::string_view text) {
    try {
        Utf8Check check("");
        check.add(text);
        check.finish();
    } catch (const DataError&) { return false; }
    return true;
}

}  // namespace bertpretrain
