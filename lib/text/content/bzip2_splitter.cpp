#include "text/content/bzip2_splitter.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr std::uint64_t block_magic = 0x314159265359;
constexpr std::size_t bytes_per_read = std::size_t{1} << 18;
constexpr std::size_t padding = 16;
// Larger than any block: 900,000 symbols of at most 20 bits.
constexpr std::size_t longest_piece_bytes = std::size_t{4} << 20;

/// For each value of a byte: the set of the 16 cases (two marks x eight bit offsets) in which it can be the second (or the third)
/// byte that a mark touches.
using Ways = std::array<std::uint16_t, 256>;

constexpr Ways ways_of_byte(unsigned place) {
    Ways ways{};
    for (unsigned offset = 0; offset < 8; ++offset) {
        const unsigned shift = bzip2_mark_bits - 8 * (place + 1) + offset;
        ways[(block_magic >> shift) & 0xFF] |= static_cast<std::uint16_t>(1U << offset);
        ways[(bzip2_stream_end >> shift) & 0xFF] |= static_cast<std::uint16_t>(0x100U << offset);
    }
    return ways;
}

constexpr Ways second_byte = ways_of_byte(1), third_byte = ways_of_byte(2);

std::uint64_t big_endian(const char* bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
}

}  // namespace

void Bzip2Piece::join(const Bzip2Piece& next) {
    if (next.first_bit > 0) packed.pop_back();  // both hold the byte with the boundary
    packed += next.packed;
    bits += next.bits;
    end = next.end;
    ending = next.ending;
    stream_checksum = next.stream_checksum;
}

bool Bzip2Splitter::fill(std::size_t bytes) {
    while (filled_ < bytes) {
        buffer_.resize(filled_ + bytes_per_read + padding);
        const std::size_t count = source_.read(buffer_.data() + filled_, bytes_per_read);
        filled_ += count;
        buffer_.resize(filled_);
        buffer_.append(padding, '\0');
        if (count == 0) return false;
    }
    return true;
}

void Bzip2Splitter::drop(std::size_t bytes) {
    buffer_.erase(0, bytes);
    filled_ -= bytes;
    file_byte_ += bytes;
}

std::uint64_t Bzip2Splitter::bits_at(std::uint64_t bit, unsigned count) const {
    return big_endian(buffer_.data() + bit / 8) << (bit % 8) >> (64 - count);  // count at most 56
}

Bzip2Splitter::Border Bzip2Splitter::border_at(std::uint64_t bit) const {
    const std::uint64_t mark = bits_at(bit, bzip2_mark_bits);
    return mark == block_magic ? Border::block : mark == bzip2_stream_end ? Border::stream_end : Border::none;
}

void Bzip2Splitter::complain(const char* what, std::size_t at) const {
    throw DataError(
        concat(source_.name(), ": damaged near byte ", file_byte_ + at, ": ", what, " was expected to begin; download it again"));
}

void Bzip2Splitter::cut(Bzip2Piece& piece, std::uint64_t from_bit, std::uint64_t to_bit) const {
    piece.packed = buffer_.substr(from_bit / 8, (to_bit + 7) / 8 - from_bit / 8);
    piece.first_bit = static_cast<unsigned>(from_bit % 8);
    piece.bits = to_bit - from_bit;
    piece.at = file_byte_ + from_bit / 8;
    piece.end = file_byte_ + to_bit / 8;
    piece.level = level_;
}

bool Bzip2Splitter::begin_stream(Bzip2Piece& piece) {
    constexpr std::size_t header = 4, to_mark = header + bzip2_mark_bits / 8;
    while (fill(1) && buffer_[0] == '\0') drop(std::min(buffer_.find_first_not_of('\0'), filled_));
    if (!fill(to_mark)) {
        if (filled_ == 0) return false;
        if (filled_ >= header && !buffer_.starts_with("BZh")) complain("a bzip2 stream", 0);
        cut(piece, 0, filled_ * 8);
        piece.ending = Bzip2Piece::Ending::cut_short;
        drop(filled_);
        return true;
    }
    if (!buffer_.starts_with("BZh") || buffer_[3] < '1' || buffer_[3] > '9') complain("a bzip2 stream", 0);
    level_ = buffer_[3];
    bit_ = header * 8;
    const Border border = border_at(bit_);
    if (border == Border::none) complain("a bzip2 block", header);
    if (border == Border::stream_end) {
        cut(piece, bit_, bit_);
        end_stream(piece, bit_);
    } else {
        in_stream_ = true;
    }
    return true;
}

bool Bzip2Splitter::next(Bzip2Piece& piece) {
    piece = {};
    if (!in_stream_) {
        if (!begin_stream(piece)) return false;
        if (!in_stream_) return true;
    }
    find_end(piece, bit_ + bzip2_mark_bits);
    return true;
}

/// Ends the piece at the first boundary at or after `from_bit`.
void Bzip2Splitter::find_end(Bzip2Piece& piece, std::uint64_t from_bit) {
    for (std::size_t i = from_bit / 8;; ++i) {
        if (i + padding > filled_ && !fill(i + padding) && i >= filled_) break;
        const auto second = static_cast<unsigned char>(buffer_[i + 1]), third = static_cast<unsigned char>(buffer_[i + 2]);
        if ((second_byte[second] & third_byte[third]) == 0) continue;
        for (unsigned offset = 0; offset < 8; ++offset) {
            const std::uint64_t bit = i * 8 + offset;
            const Border border = bit < from_bit ? Border::none : border_at(bit);
            if (border == Border::none) continue;
            cut(piece, bit_, bit);
            if (border == Border::stream_end) return end_stream(piece, bit);
            piece.ending = Bzip2Piece::Ending::block_follows;
            drop(bit / 8);
            bit_ = offset;
            return;
        }
        if (i > longest_piece_bytes) complain("a bzip2 block", i);
    }
    cut(piece, bit_, filled_ * 8);
    piece.ending = Bzip2Piece::Ending::cut_short;
    in_stream_ = false;
    drop(filled_);
}

void Bzip2Splitter::end_stream(Bzip2Piece& piece, std::uint64_t at_bit) {
    const std::uint64_t end = (at_bit + bzip2_mark_bits + bzip2_checksum_bits + 7) / 8;
    const bool more = fill(end + 2 * padding);
    if (filled_ < end) {
        piece.ending = Bzip2Piece::Ending::cut_short;
        in_stream_ = false;
        return drop(filled_);
    }
    piece.stream_checksum = static_cast<std::uint32_t>(bits_at(at_bit + bzip2_mark_bits, bzip2_checksum_bits));
    const std::size_t next = std::min(buffer_.find_first_not_of('\0', end), filled_);  // zeros may fill up a block of a tape
    const std::string_view rest = std::string_view(buffer_).substr(next, filled_ - next);
    const bool stream_follows = more && rest.starts_with("BZh") && border_at((next + 4) * 8) != Border::none;
    if (rest.empty() || stream_follows || (!more && rest.starts_with("BZh"))) {
        piece.ending = Bzip2Piece::Ending::stream_ends;
        piece.end = file_byte_ + end;
        in_stream_ = false;
        bit_ = 0;
        drop(end);
    } else {
        piece.ending = Bzip2Piece::Ending::stream_may_end;
        in_stream_ = true;
        drop(at_bit / 8);
        bit_ = static_cast<unsigned>(at_bit % 8);
    }
}

}  // namespace bertpretrain
