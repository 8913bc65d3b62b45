#pragma once
// One block of a bzip2 file.

#include <cstddef>
#include <cstdint>
#include <string>

#include <bzlib.h>

#include "text/bzip2_splitter.h"

namespace bertpretrain {

/// The block's own checksum, as its header has it; the piece has at least 80 bits.
std::uint32_t checksum_of_block(const Bzip2Piece& piece);

/// The piece's block as a stream of its own: libbz2 unpacks nothing less.
std::string one_block_stream(const Bzip2Piece& piece);

class Bzip2BlockDecoder {
public:
    explicit Bzip2BlockDecoder(const Bzip2Piece& piece);
    Bzip2BlockDecoder(const Bzip2BlockDecoder&) = delete;
    Bzip2BlockDecoder& operator=(const Bzip2BlockDecoder&) = delete;
    ~Bzip2BlockDecoder();

    enum class State { full, ended, damaged };
    /// Replaces `plain` by the next bytes, up to `limit`. full: there may be more; ended: all is out and its checksum right.
    State unpack(std::string& plain, std::size_t limit);

private:
    std::string packed_;
    bz_stream stream_{};
};

}  // namespace bertpretrain
