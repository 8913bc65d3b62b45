#pragma once
// Decompresses one block of a bzip2 file. Our own implementation, because libbz2 (the tests' oracle) reads Huffman codes bit by
// bit: on dumps it takes a third longer, and decompression is three quarters of an extraction's time. Source: the format as
// bzip2 1.0.8 writes it. "Randomised" blocks of versions before 0.9.5 (1999) are not supported.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "text/bzip2_splitter.h"

namespace bertpretrain {

/// Returns the checksum in the block's header. The piece must have at least 80 bits.
std::uint32_t checksum_of_block(const Bzip2Piece& piece);

class Bzip2BlockDecoder {
public:
    explicit Bzip2BlockDecoder(const Bzip2Piece& piece);

    enum class State { full, ended, damaged };
    /// Replaces `plain` with the next decompressed bytes, about `limit` of them (up to 255 more).
    /// @returns full: there may be more; ended: that was all, and the checksum matches; damaged: no whole block, or no match
    State unpack(std::string& plain, std::size_t limit);

private:
    void invert(std::uint32_t origin, std::array<std::uint32_t, 256>& counts);

    bool is_sound_ = false;
    std::vector<std::uint32_t> links_;  ///< for the inverse Burrows-Wheeler transform: next place << 8 | byte
    std::size_t left_ = 0;              ///< entries of links_ still to be decoded
    std::uint32_t place_ = 0;
    unsigned run_ = 0;  ///< length of the current run of equal bytes; after four, the next byte is the number of further repeats
    unsigned char last_ = 0;
    std::uint32_t checksum_ = 0xFFFFFFFF, expected_checksum_ = 0;
};

}  // namespace bertpretrain
