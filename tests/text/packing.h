#pragma once
// Compressed data for tests.

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

}  // namespace bertpretrain::testing
