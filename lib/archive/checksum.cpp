#include "archive/checksum.h"

#include <isa-l/crc.h>
#include <zlib.h>

namespace bertpretrain {

std::uint32_t crc32_of(std::span<const std::byte> bytes) {
    return ::crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::uint32_t crc32_joined(std::uint32_t crc_a, std::uint32_t crc_b, std::uint64_t bytes_b) {
    return static_cast<std::uint32_t>(::crc32_combine(crc_a, crc_b, static_cast<z_off_t>(bytes_b)));
}

}  // namespace bertpretrain
