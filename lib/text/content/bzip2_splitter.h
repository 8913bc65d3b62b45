#pragma once
// Finds the block boundaries of a bzip2 file without decompressing it, so that blocks can be decompressed in parallel.
// The format stores no lengths, but every block begins with 48 bits of pi, and every stream ends with 48 bits of the square root
// of pi. Both may begin at any bit.

#include <cstddef>
#include <cstdint>
#include <string>

#include "text/content/byte_source.h"

namespace bertpretrain {

inline constexpr unsigned bzip2_mark_bits = 48, bzip2_checksum_bits = 32;
/// The mark that ends a stream.
inline constexpr std::uint64_t bzip2_stream_end = 0x177245385090;

/// The bits of a file from one boundary to the next.
struct Bzip2Piece {
    enum class Ending {
        block_follows,
        stream_ends,     ///< followed by the end of the file or by another stream
        stream_may_end,  ///< followed by something else: it is garbage, or the 48 bits were not a boundary
        cut_short,       ///< the file ends without a boundary
    };
    std::string packed;      ///< the compressed bytes that contain the piece
    unsigned first_bit = 0;  ///< 0 to 7: the bit of packed[0] where the piece begins
    std::uint64_t bits = 0;  ///< length in bits; 0: the stream has no block
    char level = '9';        ///< level of its stream: blocks have up to level * 100,000 bytes
    std::uint64_t at = 0;    ///< offset in the file of the byte in which the piece begins
    std::uint64_t end = 0;   ///< offset in the file after the piece, or after its stream if that ends here
    Ending ending = Ending::block_follows;
    std::uint32_t stream_checksum = 0;  ///< set when a stream ends here

    /// Appends the next piece of the file, when the boundary between the two was a false one.
    void join(const Bzip2Piece& next);
};

/// Splits a file into pieces. Memory: one piece, at most 8 MiB.
class Bzip2Splitter {
public:
    explicit Bzip2Splitter(ByteSource& source) : source_(source) {}

    /// Reads the next piece. @returns false at the end of the file @throws DataError when an expected stream or block is missing
    bool next(Bzip2Piece& piece);

private:
    enum class Border { none, block, stream_end };

    bool begin_stream(Bzip2Piece& piece);
    void find_end(Bzip2Piece& piece, std::uint64_t from_bit);
    void end_stream(Bzip2Piece& piece, std::uint64_t at_bit);
    void cut(Bzip2Piece& piece, std::uint64_t from_bit, std::uint64_t to_bit) const;
    bool fill(std::size_t bytes);  ///< reads until the buffer holds `bytes` bytes; false when the file has fewer
    void drop(std::size_t bytes);
    Border border_at(std::uint64_t bit) const;
    std::uint64_t bits_at(std::uint64_t bit, unsigned count) const;
    [[noreturn]] void complain(const char* what, std::size_t at) const;

    ByteSource& source_;
    std::string buffer_;           ///< bytes after the last piece, followed by `padding` zeros
    std::size_t filled_ = 0;       ///< number of bytes in buffer_ that come from the file
    std::uint64_t file_byte_ = 0;  ///< offset of buffer_ in the file
    unsigned bit_ = 0;             ///< bit of buffer_ where the next piece begins
    char level_ = '9';
    bool in_stream_ = false;
};

}  // namespace bertpretrain
