#pragma once
// Unpacks one block of a bzip2 file. Our own, because libbz2 (the tests' oracle) reads Huffman codes bit by bit: measured on
// dumps it takes a third longer, and unpacking is three quarters of an extraction. Source: the format as bzip2 1.0.8 writes it;
// blocks "randomised" by versions before 0.9.5 (1999) are not read.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "text/bzip2_splitter.h"

namespace bertpretrain {

/// The block's own checksum, as its header has it; the piece has at least 80 bits.
std::uint32_t checksum_of_block(const Bzip2Piece& piece);

class Bzip2BlockDecoder {
public:
    explicit Bzip2BlockDecoder(const Bzip2Piece& piece);

    enum class State { full, ended, damaged };
    /// Replaces `plain` by the next bytes, about `limit` of them (up to 255 more). full: there may be more; ended: all is out and
    /// its checksum right; damaged: this is not a whole block, or its checksum is wrong.
    State unpack(std::string& plain, std::size_t limit);

private:
    void invert(std::uint32_t origin, std::array<std::uint32_t, 256>& counts);

    bool is_sound_ = false;
    std::vector<std::uint32_t> links_;  ///< of the inverse Burrows-Wheeler transform: next place << 8 | byte
    std::size_t left_ = 0;              ///< bytes that are still packed, runs counted as written
    std::uint32_t place_ = 0;
    unsigned run_ = 0;  ///< how many times the last byte stood in a row; behind four follows how many more
    unsigned char last_ = 0;
    std::uint32_t checksum_ = 0xFFFFFFFF, expected_checksum_ = 0;
};

}  // namespace bertpretrain
