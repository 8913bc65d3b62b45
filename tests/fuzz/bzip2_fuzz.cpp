// A block of a bzip2 file. For any input Bzip2BlockDecoder reports damage, or gives the same bytes as libbz2 on the whole stream.

#include <algorithm>
#include <cstdlib>
#include <string>

#include <bzlib.h>

#include "text/content/bzip2_block_decoder.h"

namespace {

constexpr std::size_t most_bytes = std::size_t{1} << 20;

/// Unpacks a whole stream with libbz2. Returns "" if libbz2 finds damage or more than `most_bytes`.
std::string by_libbz2(std::string stream) {
    std::string plain(most_bytes, '\0');
    auto size = static_cast<unsigned>(plain.size());
    const int state = BZ2_bzBuffToBuffDecompress(plain.data(), &size, stream.data(), static_cast<unsigned>(stream.size()), 0, 0);
    plain.resize(state == BZ_OK ? size : 0);
    return plain;
}

}  // namespace

/// The input is a bzip2 stream with one block. The block is the stream without its header and the 80 bits of its end.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    if (size < 24) return 0;
    const std::string stream(reinterpret_cast<const char*>(data), size);
    bertpretrain::Bzip2Piece piece;
    piece.packed = stream.substr(4);
    piece.level = '1';  // larger blocks would only take longer to allocate
    // The end may begin at any of eight bits, because padding fills the last byte.
    for (unsigned padding = 0; padding < 8; ++padding) {
        piece.bits = piece.packed.size() * 8 - 80 - padding;
        bertpretrain::Bzip2BlockDecoder decoder(piece);
        std::string plain, part;
        auto state = decoder.unpack(part, 1000);
        for (; state == bertpretrain::Bzip2BlockDecoder::State::full && plain.size() < most_bytes;
             state = decoder.unpack(part, 70'000))
            plain += part;
        if (state != bertpretrain::Bzip2BlockDecoder::State::ended) continue;
        plain += part;
        const std::string theirs = by_libbz2(stream);
        if (!theirs.empty() && theirs != plain) std::abort();
    }
    return 0;
}
