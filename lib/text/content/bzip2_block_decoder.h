#pragma once
// Decompresses one block of a bzip2 file by libbz2, which reads whole streams only: the block becomes a stream of its own.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <bzlib.h>

#include "text/content/bzip2_splitter.h"

namespace bertpretrain {

/// Returns the checksum in the block's header. The piece has at least 80 bits.
std::uint32_t checksum_of_block(const Bzip2Piece& piece);

/// Returns a complete bzip2 stream that consists of the piece alone: header, the piece's bits moved to a byte's beginning, end
/// mark, checksum. The piece has at least 80 bits.
std::string stream_of_piece(const Bzip2Piece& piece);

/// Decompresses one piece. Holds its packed bytes and 4 bytes per byte of the block, at most 5 MB.
class Bzip2BlockDecoder {
public:
    /// @throws std::bad_alloc
    explicit Bzip2BlockDecoder(const Bzip2Piece& piece);

    enum class State { full, ended, damaged };
    /// Replaces `plain` by at most `limit` of the next bytes. Returns full where more may follow, ended after the last byte of a
    /// block whose checksum matches, damaged where the piece is not exactly one whole block or its checksum differs.
    /// @throws std::bad_alloc
    State unpack(std::string& plain, std::size_t limit);

private:
    std::string packed_;
    std::unique_ptr<bz_stream, void (*)(bz_stream*)> stream_;  ///< null where the piece is too short to be a block
};

}  // namespace bertpretrain
