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

/// What may follow the first byte of a character beyond ASCII. The ranges are those of well-formed UTF-8 (The Unicode Standard,
/// table 3-7): no overlong forms, surrogates or numbers above U+10FFFF.
struct FirstByte {
    unsigned char missing;      ///< bytes that follow; 0: no character begins so
    unsigned char least, most;  ///< the values that the next byte may have
};

constexpr FirstByte first_byte(unsigned char byte) {
    if (byte < 0xC2 || byte > 0xF4) return {0, 0x80, 0xBF};
    const auto missing = static_cast<unsigned char>(byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3);
    const auto least = static_cast<unsigned char>(byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : 0x80);
    const auto most = static_cast<unsigned char>(byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : 0xBF);
    return {missing, least, most};
}

/// Returns the length of the character beyond ASCII with which `text` begins; 0: it is not UTF-8.
std::size_t character_length(std::string_view text) {
    const FirstByte first = first_byte(static_cast<unsigned char>(text[0]));
    if (first.missing == 0 || first.missing >= text.size()) return 0;
    for (std::size_t i = 1; i <= first.missing; ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < (i == 1 ? first.least : 0x80) || byte > (i == 1 ? first.most : 0xBF)) return 0;
    }
    return first.missing + std::size_t{1};
}

std::string hexadecimal_byte(unsigned char byte) {
    constexpr char digits[] = "0123456789ABCDEF";
    return {'0', 'x', digits[byte >> 4], digits[byte & 15]};
}

/// What to do about a byte that is not UTF-8. @param around the text near it  @param seen characters beyond ASCII that were UTF-8
std::string advice(std::string_view around, std::uint64_t seen, Utf8Check::Remedy remedy) {
    constexpr std::uint64_t enough = 3;
    const bool has_option = remedy == Utf8Check::Remedy::option;
    const BytesBeyondAscii found = bytes_beyond_ascii(around);
    if (found.wrong < enough || found.characters + seen > found.wrong)
        return concat(
            "fix this byte, or drop all such bytes of the unpacked text with `iconv -f UTF-8 -t UTF-8 -c FILE > CLEAN`; ",
            found.characters + seen > 0 ? "the text near it is UTF-8, so another encoding would garble it"
            : has_option                ? "if the file has another encoding, name it with --encoding"
                                        : "if the file has another encoding, convert it to UTF-8");
    const bool is_latin = 4 * found.wrong <= around.size();
    const std::string_view example = !is_latin ? "windows-1251" : found.wrong_controls > 0 ? "windows-1252" : "latin1";
    return concat(has_option
                      ? concat("name the encoding that it has, for example `--encoding ", example, "`, or convert the file")
                      : concat("convert it to UTF-8 from the encoding that it has, for example: `iconv -f ", example,
                               " -t UTF-8 FILE > CONVERTED`"),
                  is_latin ? "" : "; others are gb18030, shift_jis and euc-kr: `file -i FILE` guesses the encoding");
}

}  // namespace

BytesBeyondAscii bytes_beyond_ascii(std::string_view text) {
    BytesBeyondAscii found;
    while (!text.empty()) {
        text.remove_prefix(skip_ascii(text, 0));
        for (std::size_t few = 0; few < sizeof(std::uint64_t) && !text.empty(); ++few) {
            const auto byte = static_cast<unsigned char>(text[0]);
            const std::size_t length = byte < 0x80 ? 1 : character_length(text);
            if (byte >= 0x80) ++(length > 0 ? found.characters : found.wrong);
            if (length == 0 && byte < 0xA0) ++found.wrong_controls;
            text.remove_prefix(length > 0 ? length : 1);
        }
    }
    return found;
}

void Utf8Check::add(std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
        if (missing_ == 0) {
            const std::size_t end = skip_ascii(bytes, at);
            offset_ += end - at;
            at = end;
        }
        for (std::size_t few = 0; few < sizeof(std::uint64_t) && at < bytes.size(); ++few, ++at)
            if (!add_byte(static_cast<unsigned char>(bytes[at]))) refuse(bytes, offset_ - at);
    }
}

/// Returns false if the character that `character_` names is not UTF-8.
bool Utf8Check::add_byte(unsigned char byte) {
    if (missing_ > 0) {
        if (byte < least_ || byte > most_) return false;
        if (--missing_ == 0) ++characters_;
        least_ = 0x80;
        most_ = 0xBF;
    } else if (byte >= 0x80) {
        character_ = offset_;
        const FirstByte first = first_byte(byte);
        if (first.missing == 0) return false;
        missing_ = first.missing;
        least_ = first.least;
        most_ = first.most;
    }
    ++offset_;
    return true;
}

void Utf8Check::finish() {
    if (missing_ > 0) refuse({}, offset_);
}

/// @param bytes the text at hand  @param first its offset in the file
void Utf8Check::refuse(std::string_view bytes, std::uint64_t first) const {
    const bool is_at_hand = character_ >= first && character_ - first < bytes.size();
    const std::string value =
        is_at_hand ? concat(" (", hexadecimal_byte(static_cast<unsigned char>(bytes[character_ - first])), ")") : "";
    throw DataError(concat(file_, ": byte ", character_, " is not UTF-8", value,
                           ", expected UTF-8 text\n  do: ", advice(bytes, characters_, remedy_)));
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
