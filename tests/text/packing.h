#pragma once
// Compressed data for tests.

#include <iterator>
#include <string>

#include <bzlib.h>
#include <zlib.h>

#include "support/catch.h"
#include "support/files.h"

namespace bertpretrain::testing {

/// Returns one bzip2 stream with blocks of up to level * 100,000 bytes.
inline std::string bzip2(const std::string& plain, int level = 1) {
    std::string packed(plain.size() + plain.size() / 50 + 700, '\0');
    auto size = static_cast<unsigned>(packed.size());
    std::string copy = plain;
    REQUIRE(BZ2_bzBuffToBuffCompress(packed.data(), &size, copy.data(), static_cast<unsigned>(copy.size()), level, 0, 0) ==
            BZ_OK);
    packed.resize(size);
    return packed;
}

inline std::string gzip(const TemporaryFolder& folder, const std::string& plain) {
    const std::string file = (folder / "packed.gz").string();
    gzFile out = gzopen(file.c_str(), "wb");
    gzwrite(out, plain.data(), static_cast<unsigned>(plain.size()));
    gzclose(out);
    return read_text(file);
}

/// Returns a zstd frame that keeps `plain`, below 2 MiB, as it is. @param window_log 10 to 41: logarithm of the frame's window
inline std::string zstd(const std::string& plain, unsigned window_log = 10) {
    constexpr unsigned is_last_block = 1;
    const auto block = static_cast<unsigned>(plain.size() << 3) | is_last_block;
    const unsigned bytes[] = {0x28, 0xB5, 0x2F, 0xFD, 0, (window_log - 10) << 3, block & 0xFF, block >> 8 & 0xFF, block >> 16};
    return std::string(std::begin(bytes), std::end(bytes)) + plain;
}

}  // namespace bertpretrain::testing
