#include "text/bzip2_block_decoder.h"

#include <new>

namespace bertpretrain {
namespace {

constexpr unsigned checksum_at = 48, block_header_bits = 80;
constexpr std::size_t usual_block_bytes = std::size_t{1} << 20;

/// Bits in the order in which bzip2 writes them.
class BitWriter {
public:
    explicit BitWriter(std::string& out) : out_(out) {}
    void put(std::uint64_t value, unsigned count) {  // count at most 32
        held_ = held_ << count | (value & ((std::uint64_t{1} << count) - 1));
        for (held_bits_ += count; held_bits_ >= 8; held_bits_ -= 8) out_ += static_cast<char>(held_ >> (held_bits_ - 8) & 0xFF);
    }
    void pad() {
        if (held_bits_ > 0) put(0, 8 - held_bits_);
    }

private:
    std::string& out_;
    std::uint64_t held_ = 0;
    unsigned held_bits_ = 0;
};

unsigned byte_of(const Bzip2Piece& piece, std::size_t index) {
    return index < piece.packed.size() ? static_cast<unsigned char>(piece.packed[index]) : 0U;
}

/// Eight bits of the piece from its bit 8 * index on.
unsigned shifted_byte(const Bzip2Piece& piece, std::size_t index) {
    return ((byte_of(piece, index) << 8 | byte_of(piece, index + 1)) >> (8 - piece.first_bit)) & 0xFF;
}

}  // namespace

std::uint32_t checksum_of_block(const Bzip2Piece& piece) {
    std::uint32_t checksum = 0;
    for (unsigned i = 0; i < 4; ++i) checksum = checksum << 8 | shifted_byte(piece, checksum_at / 8 + i);
    return checksum;
}

std::string one_block_stream(const Bzip2Piece& piece) {
    const std::size_t whole = piece.bits / 8;
    std::string stream = {'B', 'Z', 'h', piece.level};
    stream.reserve(whole + 32);
    for (std::size_t i = 0; i < whole; ++i) stream += static_cast<char>(shifted_byte(piece, i));
    BitWriter writer(stream);
    const auto rest = static_cast<unsigned>(piece.bits % 8);
    writer.put(shifted_byte(piece, whole) >> (8 - rest), rest);
    writer.put(0x177245, 24);
    writer.put(0x385090, 24);
    writer.put(checksum_of_block(piece), 32);  // of a stream with one block it is the block's
    writer.pad();
    return stream;
}

Bzip2BlockDecoder::Bzip2BlockDecoder(const Bzip2Piece& piece)
    : packed_(piece.bits < block_header_bits ? std::string() : one_block_stream(piece)) {
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
    stream_.next_in = packed_.data();
    stream_.avail_in = static_cast<unsigned>(packed_.size());
}

Bzip2BlockDecoder::~Bzip2BlockDecoder() { BZ2_bzDecompressEnd(&stream_); }

Bzip2BlockDecoder::State Bzip2BlockDecoder::unpack(std::string& plain, std::size_t limit) {
    plain.clear();
    while (true) {
        const std::size_t before = plain.size();
        plain.resize(std::min(limit, before + usual_block_bytes));
        stream_.next_out = plain.data() + before;
        stream_.avail_out = static_cast<unsigned>(plain.size() - before);
        const int state = BZ2_bzDecompress(&stream_);
        plain.resize(plain.size() - stream_.avail_out);
        if (state == BZ_MEM_ERROR) throw std::bad_alloc();
        if (state == BZ_STREAM_END) return stream_.avail_in == 0 ? State::ended : State::damaged;
        if (state != BZ_OK || plain.size() == before) return State::damaged;
        if (plain.size() == limit) return State::full;
    }
}

}  // namespace bertpretrain
