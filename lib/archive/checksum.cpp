#include "archive/checksum.h"

#include <algorithm>

#include <zlib.h>

namespace bertpretrain {

std::uint32_t crc32_of(std::span<const std::byte> bytes) {
    uLong crc = 0;
    while (!bytes.empty()) {  // zlib counts in 32 bits
        const std::size_t part = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
        crc = ::crc32(crc, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(part));
        bytes = bytes.subspan(part);
    }
    return static_cast<std::uint32_t>(crc);
}

std::uint32_t crc32_joined(std::uint32_t crc_a, std::uint32_t crc_b, std::uint64_t bytes_b) {
    return static_cast<std::uint32_t>(::crc32_combine(crc_a, crc_b, static_cast<z_off_t>(bytes_b)));
}

}  // namespace bertpretrain
