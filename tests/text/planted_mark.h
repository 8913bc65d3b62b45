#pragma once
// Valid bzip2 streams that contain a block's or a stream's mark inside their data, which no compressor makes on purpose.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <bzlib.h>

#include "text/content/bzip2_splitter.h"

namespace bertpretrain::testing {

inline constexpr std::uint64_t bzip2_block_mark = 0x314159265359;

/// Overwrites `count` bits from bit `at` of `bytes`. @param value has these bits, its highest first
inline void set_bits(std::string& bytes, std::size_t at, std::uint64_t value, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
        const unsigned shift = 7 - static_cast<unsigned>((at + i) % 8);
        auto& byte = reinterpret_cast<unsigned char&>(bytes[(at + i) / 8]);
        byte = static_cast<unsigned char>((byte & ~(1U << shift)) | static_cast<unsigned>(value >> (count - 1 - i) & 1) << shift);
    }
}

/// Returns bzip2's checksum of a block: CRC-32, highest bit first.
inline std::uint32_t bzip2_checksum(const std::string& plain) {
    std::uint32_t checksum = ~std::uint32_t{0};
    for (const char character : plain) {
        checksum ^= std::uint32_t{static_cast<unsigned char>(character)} << 24;
        for (int bit = 0; bit < 8; ++bit) checksum = checksum << 1 ^ (checksum >> 31 ? 0x04C11DB7U : 0U);
    }
    return ~checksum;
}

/// Decompresses the first stream of `packed` by libbz2. On return `plain` has all bytes that libbz2 gave, at most `limit`, also
/// where only a checksum differs. @returns the number of bytes that the stream takes, nothing where it is damaged, cut short or
/// too large
inline std::optional<std::size_t> unpack_stream(std::string packed, std::string& plain, std::size_t limit) {
    plain.assign(limit, '\0');
    bz_stream stream{};
    if (BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) return {};
    stream.next_in = packed.data();
    stream.avail_in = static_cast<unsigned>(packed.size());
    stream.next_out = plain.data();
    stream.avail_out = static_cast<unsigned>(limit);
    const int state = BZ2_bzDecompress(&stream);
    plain.resize(limit - stream.avail_out);
    const std::size_t used = packed.size() - stream.avail_in;
    BZ2_bzDecompressEnd(&stream);
    return state == BZ_STREAM_END ? std::optional(used) : std::nullopt;
}

/// Overwrites the 48 bits from bit `at` of a stream with a mark and corrects the checksums. @param stream has one block
/// @returns nothing where the changed bits are not a block of at most 128 KiB
inline std::optional<std::string> with_mark(std::string stream, std::size_t at, std::uint64_t mark) {
    constexpr std::size_t header_bits = 32 + bzip2_mark_bits + bzip2_checksum_bits, most_bytes = std::size_t{1} << 17;
    std::string plain;
    if (at < header_bits || at + bzip2_mark_bits + 88 > stream.size() * 8) return {};
    set_bits(stream, at, mark, bzip2_mark_bits);
    unpack_stream(stream, plain, most_bytes);
    const std::uint32_t checksum = bzip2_checksum(plain);
    set_bits(stream, 32 + bzip2_mark_bits, checksum, bzip2_checksum_bits);
    for (unsigned padding = 0; padding < 8; ++padding) {  // the last byte is filled up
        std::string whole = stream;
        set_bits(whole, stream.size() * 8 - padding - bzip2_checksum_bits, checksum, bzip2_checksum_bits);
        if (unpack_stream(whole, plain, most_bytes) == whole.size()) return whole;
    }
    return {};
}

}  // namespace bertpretrain::testing
