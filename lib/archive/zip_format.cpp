#include "archive/zip_format.h"

#include "core/error.h"

namespace bertpretrain::zip {
namespace {

template <class Integer>
void put(std::string& out, Integer value) {
    for (std::size_t byte = 0; byte < sizeof value; ++byte) out += static_cast<char>((value >> (8 * byte)) & 0xFF);
}

std::uint16_t u16(std::uint64_t value) {
    check(value <= 0xFFFF, "a 16-bit field of a zip header cannot hold ", value);
    return static_cast<std::uint16_t>(value);
}

std::uint32_t u32_or_mark(std::uint64_t value) { return is_large(value) ? in_zip64 : static_cast<std::uint32_t>(value); }

constexpr std::uint16_t made_at_date = (1980 - 1980) << 9 | 1 << 5 | 1;  // a fixed date: equal states give equal files

/// Appends the part that local and central headers share: from "version needed" to the extra field's length.
void put_common(std::string& out, const Header& header, bool zip64, std::uint16_t extra_bytes) {
    put<std::uint16_t>(out, zip64 ? 45 : 20);
    put<std::uint16_t>(out, utf8_flag);
    put<std::uint16_t>(out, 0);  // stored
    put<std::uint16_t>(out, 0);
    put<std::uint16_t>(out, made_at_date);
    put<std::uint32_t>(out, header.crc32);
    put<std::uint32_t>(out, u32_or_mark(header.bytes));
    put<std::uint32_t>(out, u32_or_mark(header.bytes));
    put<std::uint16_t>(out, u16(header.name.size()));
    put<std::uint16_t>(out, extra_bytes);
}

}  // namespace

std::uint64_t least_local_bytes(const Header& header) {
    return local_bytes + header.name.size() + (is_large(header.bytes) ? 20U : 0U);
}

std::string local_header(const Header& header, std::uint64_t total_bytes) {
    const std::uint64_t least = least_local_bytes(header);
    check(total_bytes == least || total_bytes >= least + 4, "the padding of a zip header needs at least four bytes");
    std::string out;
    put<std::uint32_t>(out, local_signature);
    put_common(out, header, is_large(header.bytes), u16(total_bytes - local_bytes - header.name.size()));
    out += header.name;
    if (is_large(header.bytes)) {
        put<std::uint16_t>(out, zip64_extra);
        put<std::uint16_t>(out, 16);
        put<std::uint64_t>(out, header.bytes);
        put<std::uint64_t>(out, header.bytes);
    }
    if (total_bytes > least) {
        put<std::uint16_t>(out, padding_extra);
        put<std::uint16_t>(out, u16(total_bytes - least - 4));
        out.resize(total_bytes, 'Z');
    }
    return out;
}

std::string central_header(const Header& header) {
    std::string extra;
    if (is_large(header.bytes)) {
        put<std::uint64_t>(extra, header.bytes);
        put<std::uint64_t>(extra, header.bytes);
    }
    if (is_large(header.offset)) put<std::uint64_t>(extra, header.offset);
    const bool zip64 = !extra.empty();
    std::string out;
    put<std::uint32_t>(out, central_signature);
    put<std::uint16_t>(out, zip64 ? 45 : 20);  // version made by
    put_common(out, header, zip64, u16(extra.size() + (zip64 ? 4U : 0U)));
    put<std::uint16_t>(out, 0);  // comment
    put<std::uint16_t>(out, 0);  // disk
    put<std::uint16_t>(out, 0);  // attributes
    put<std::uint32_t>(out, 0);
    put<std::uint32_t>(out, u32_or_mark(header.offset));
    out += header.name;
    if (zip64) {
        put<std::uint16_t>(out, zip64_extra);
        put<std::uint16_t>(out, u16(extra.size()));
        out += extra;
    }
    return out;
}

std::string directory_end(std::uint64_t entries, std::uint64_t directory_offset, std::uint64_t directory_bytes) {
    std::string out;
    const bool zip64 = entries >= 0xFFFF || is_large(directory_offset) || is_large(directory_bytes);
    if (zip64) {
        put<std::uint32_t>(out, end64_signature);
        put<std::uint64_t>(out, end64_bytes - 12);
        put<std::uint16_t>(out, 45);
        put<std::uint16_t>(out, 45);
        put<std::uint32_t>(out, 0);
        put<std::uint32_t>(out, 0);
        put<std::uint64_t>(out, entries);
        put<std::uint64_t>(out, entries);
        put<std::uint64_t>(out, directory_bytes);
        put<std::uint64_t>(out, directory_offset);
        put<std::uint32_t>(out, end64_locator_signature);
        put<std::uint32_t>(out, 0);
        put<std::uint64_t>(out, directory_offset + directory_bytes);
        put<std::uint32_t>(out, 1);
    }
    put<std::uint32_t>(out, end_signature);
    put<std::uint16_t>(out, 0);
    put<std::uint16_t>(out, 0);
    put<std::uint16_t>(out, entries >= 0xFFFF ? std::uint16_t{0xFFFF} : u16(entries));
    put<std::uint16_t>(out, entries >= 0xFFFF ? std::uint16_t{0xFFFF} : u16(entries));
    put<std::uint32_t>(out, u32_or_mark(directory_bytes));
    put<std::uint32_t>(out, u32_or_mark(directory_offset));
    put<std::uint16_t>(out, 0);
    return out;
}

}  // namespace bertpretrain::zip
