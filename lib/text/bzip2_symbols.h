#pragma once
// Decodes the entropy coding of a bzip2 block: Huffman codes, runs, move-to-front.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "text/bzip2_splitter.h"

namespace bertpretrain {

struct Bzip2Symbols {
    std::uint32_t checksum = 0;
    std::uint32_t origin = 0;                 ///< origin pointer of the Burrows-Wheeler transform, less than bytes.size()
    std::array<std::uint32_t, 256> counts{};  ///< how often each byte occurs
    std::vector<std::uint32_t> bytes;         ///< one byte per entry
};

/// Decodes the piece. Returns nullopt when it is not exactly one whole block. Never reads outside of it.
std::optional<Bzip2Symbols> read_bzip2_symbols(const Bzip2Piece& piece);

}  // namespace bertpretrain
