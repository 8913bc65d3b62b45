#include "core/plain_text.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace bertpretrain {
namespace {

struct Format {
    std::string_view begin, name, do_this;
};

constexpr std::string_view unpack = "unpack it first";
constexpr std::string_view convert = "write its text to a file with ";  // the layout follows
constexpr std::string_view extract = "run `bertpretrain_data extract` on it first";
constexpr std::string_view to_utf8 = "convert it to UTF-8, for example with `iconv -f UTF-16 -t UTF-8`";

using namespace std::string_view_literals;

constexpr Format formats[] = {
    {"\x1F\x8B"sv, "a gzip file", unpack},
    {"\x28\xB5\x2F\xFD"sv, "a zstd file", unpack},
    {"\xFD"
     "7zXZ\0"sv,
     "an xz file", unpack},
    {"PK\x03\x04"sv, "a zip file", unpack},
    {"PAR1"sv, "a Parquet file", convert},
    {"\x89HDF\r\n"sv, "an HDF5 file", "give the text that it was made from"},
    {"\xFF\xFE"sv, "UTF-16 text", to_utf8},
    {"\xFE\xFF"sv, "UTF-16 text", to_utf8},
};

bool is_bzip2(std::string_view head) {
    return head.size() > 9 && head.starts_with("BZh") && head[3] >= '1' && head[3] <= '9' && head.substr(4, 2) == "1A";
}

/// Whether the text begins with an object's first key: `{"key":`.
bool is_json(std::string_view text) {
    if (!text.starts_with('{')) return false;
    const std::size_t key = text.find_first_not_of(" \t\r\n", 1);
    if (key == std::string_view::npos || text[key] != '"') return false;
    const std::size_t end = text.find('"', key + 1);
    const std::size_t colon = end == std::string_view::npos ? end : text.find_first_not_of(" \t", end + 1);
    return colon != std::string_view::npos && text[colon] == ':';
}

}  // namespace

void refuse_other_format(const std::filesystem::path& file, std::string_view head, std::string_view layout) {
    const auto refuse = [&](std::string_view name, std::string_view do_this) {
        throw DataError(concat(file.string(), ": is ", name, ", expected plain text\n  do: ", do_this,
                               do_this == convert ? layout : std::string_view()));
    };
    for (const Format& format : formats)
        if (head.starts_with(format.begin)) refuse(format.name, format.do_this);
    if (is_bzip2(head)) refuse("a bzip2 file", "unpack it first; `bertpretrain_data extract` reads a packed dump as it is");
    const std::string_view text = head.substr(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
    if (text.starts_with("<mediawiki")) refuse("a Wikipedia dump", extract);
    if (text.starts_with("<doc id=")) refuse("the output of WikiExtractor", extract);
    if (is_json(text)) refuse("JSON", convert);
}

void PlainTextCheck::add(std::string_view bytes) {
    if (offset_ == 0) refuse_other_format(file_, bytes.substr(0, 4096));
    for (const char byte : bytes) {
        // Most bytes of most texts are ASCII between complete characters.
        if (missing_ == 0 && static_cast<unsigned char>(byte) < 0x80) ++offset_;
        else add_byte(static_cast<unsigned char>(byte));
    }
}

/// The ranges are those of well-formed UTF-8 (The Unicode Standard, table 3-7): no overlong forms, surrogates or numbers above
/// U+10FFFF.
void PlainTextCheck::add_byte(unsigned char byte) {
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

void PlainTextCheck::finish() {
    if (missing_ > 0) refuse_byte(character_);
}

void PlainTextCheck::refuse_byte(std::uint64_t offset) const {
    throw DataError(concat(file_.string(), ": byte ", offset, " is not UTF-8, expected UTF-8 text",
                           "\n  do: convert the file, for example with `iconv -f LATIN1 -t UTF-8`"));
}

}  // namespace bertpretrain
