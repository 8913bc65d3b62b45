#pragma once
// Where the blocks of a bzip2 file begin, found without unpacking, so that they can be unpacked in parallel.
// Source: the format has no lengths, but every block begins with the 48 bits of pi, every stream ends with those of its root;
// they may begin at any bit.

#include <cstddef>
#include <cstdint>
#include <string>

#include "text/byte_source.h"

namespace bertpretrain {

/// The bits of a file from one border to the next.
struct Bzip2Piece {
    enum class Ending {
        block_follows,
        stream_ends,     ///< and the file ends there, or another stream begins
        stream_may_end,  ///< what follows is no stream: garbage, or these 48 bits are no border
        cut_short,       ///< the file ends without a border
    };
    std::string packed;      ///< whole bytes
    unsigned first_bit = 0;  ///< of `packed`, 0 to 7: where the piece begins
    std::uint64_t bits = 0;  ///< its length; 0: the stream has no block
    char level = '9';        ///< of its stream: blocks of up to level * 100,000 bytes
    std::uint64_t at = 0;    ///< the byte of the file in which it begins
    std::uint64_t end = 0;   ///< the byte behind it, and behind its stream where that ends
    Ending ending = Ending::block_follows;
    std::uint32_t stream_checksum = 0;  ///< where a stream ends

    /// Appends the piece that follows in the file: the border between them was none.
    void join(const Bzip2Piece& next);
};

/// Reads a file piece by piece. Memory: one piece, at most 8 MiB.
class Bzip2Splitter {
public:
    explicit Bzip2Splitter(ByteSource& source) : source_(source) {}

    /// @returns false at the end of the file @throws DataError where a stream should begin and none does
    bool next(Bzip2Piece& piece);

private:
    enum class Border { none, block, stream_end };

    bool begin_stream(Bzip2Piece& piece);
    void find_end(Bzip2Piece& piece, std::uint64_t from_bit);
    void end_stream(Bzip2Piece& piece, std::uint64_t at_bit);
    void cut(Bzip2Piece& piece, std::uint64_t from_bit, std::uint64_t to_bit) const;
    bool fill(std::size_t bytes);  ///< makes so many bytes of the buffer ready; false where the file has fewer
    void drop(std::size_t bytes);
    Border border_at(std::uint64_t bit) const;
    std::uint64_t bits_at(std::uint64_t bit, unsigned count) const;
    [[noreturn]] void complain(const char* what, std::size_t at) const;

    ByteSource& source_;
    std::string buffer_;           ///< what follows the last piece, with `padding` zeros behind it
    std::size_t filled_ = 0;       ///< bytes of the buffer that are the file's
    std::uint64_t file_byte_ = 0;  ///< where the buffer begins in the file
    unsigned bit_ = 0;             ///< of the buffer: where the next piece begins
    char level_ = '9';
    bool in_stream_ = false;
};

}  // namespace bertpretrain
