#pragma once
// The structures of the zip format that reader and writer share (PKWARE's APPNOTE, version 6.3).

#include <cstddef>
#include <cstdint>
#include <string>

namespace bertpretrain::zip {

inline constexpr std::uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50, end_signature = 0x06054b50;
inline constexpr std::uint32_t end64_signature = 0x06064b50, end64_locator_signature = 0x07064b50;
inline constexpr std::size_t local_bytes = 30, central_bytes = 46, end_bytes = 22, end64_bytes = 56, end64_locator_bytes = 20;
inline constexpr std::uint16_t zip64_extra = 0x0001;    ///< id of the extra field that holds 64-bit numbers
inline constexpr std::uint16_t padding_extra = 0x4246;  ///< "FB", the extra field that PyTorch pads with
inline constexpr std::uint32_t in_zip64 = 0xFFFFFFFF;   ///< means that the number is in the zip64 extra field
inline constexpr std::uint16_t encrypted_flag = 1, sizes_follow_flag = 8, utf8_flag = 0x800;

/// A file of the zip, as its headers describe it.
struct Header {
    std::string name;
    std::uint64_t bytes = 0, offset = 0;
    std::uint32_t crc32 = 0;
};

/// Whether a number needs the 64-bit form.
inline bool is_large(std::uint64_t number) { return number >= in_zip64; }

/// Returns a local header whose extra field is padded so that the header is exactly `total_bytes` long.
/// @throws std::logic_error when the padding cannot have that size
std::string local_header(const Header& header, std::uint64_t total_bytes);

/// Returns the length of a local header without padding.
std::uint64_t least_local_bytes(const Header& header);

std::string central_header(const Header& header);

/// Returns everything that follows the central directory.
std::string directory_end(std::uint64_t entries, std::uint64_t directory_offset, std::uint64_t directory_bytes);

}  // namespace bertpretrain::zip
