#include "text/content/bzip2_block_decoder.h"

#include <new>

namespace bertpretrain {
namespace {

constexpr std::size_t stream_header_bytes = 4;
constexpr unsigned end_bits = bzip2_mark_bits + bzip2_checksum_bits;  // of a stream; a block begins with as many

/// Appends the low `count` bits of `value` to a stream that ends at bit `used` (0 to 7; 0: whole) of its last byte.
void append_bits(std::string& stream, unsigned& used, std::uint64_t value, unsigned count) {
    for (unsigned i = count; i-- > 0; used = (used + 1) % 8) {
        if (used == 0) stream += '\0';
        const auto bit = static_cast<unsigned char>((value >> i & 1) << (7 - used));
        stream.back() = static_cast<char>(static_cast<unsigned char>(stream.back()) | bit);
    }
}

void end_and_delete(bz_stream* stream) {
    BZ2_bzDecompressEnd(stream);
    delete stream;
}

}  // namespace

std::uint32_t checksum_of_block(const Bzip2Piece& piece) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 5; ++i) bits = bits << 8 | static_cast<unsigned char>(piece.packed[bzip2_mark_bits / 8 + i]);
    return static_cast<std::uint32_t>(bits >> (8 - piece.first_bit));
}

std::string stream_of_piece(const Bzip2Piece& piece) {
    const std::size_t whole = piece.bits / 8;
    std::string stream;
    stream.reserve(stream_header_bytes + whole + 1 + end_bits / 8);
    stream.append("BZh").push_back(piece.level);
    const auto byte_at = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(piece.packed[i])); };
    const unsigned shift = piece.first_bit;
    if (shift == 0) {
        stream.append(piece.packed, 0, whole);
    } else {
        stream.resize(stream_header_bytes + whole);
        for (std::size_t i = 0; i < whole; ++i)
            stream[stream_header_bytes + i] = static_cast<char>(byte_at(i) << shift | byte_at(i + 1) >> (8 - shift));
    }
    unsigned used = 0;
    for (std::uint64_t bit = shift + whole * 8; bit < shift + piece.bits; ++bit)
        append_bits(stream, used, byte_at(bit / 8) >> (7 - bit % 8), 1);
    append_bits(stream, used, bzip2_stream_end, bzip2_mark_bits);
    append_bits(stream, used, checksum_of_block(piece),
                bzip2_checksum_bits);  // a stream's checksum over one block is the block's
    return stream;
}

Bzip2BlockDecoder::Bzip2BlockDecoder(const Bzip2Piece& piece) : stream_(nullptr, &end_and_delete) {
    if (piece.bits < end_bits) return;
    packed_ = stream_of_piece(piece);
    auto stream = std::make_unique<bz_stream>();
    if (BZ2_bzDecompressInit(stream.get(), /*verbosity=*/0, /*small=*/0) != BZ_OK) throw std::bad_alloc();
    stream->next_in = packed_.data();
    stream->avail_in = static_cast<unsigned>(packed_.size());
    stream_.reset(stream.release());
}

Bzip2BlockDecoder::State Bzip2BlockDecoder::unpack(std::string& plain, std::size_t limit) {
    plain.clear();
    if (!stream_) return State::damaged;
    plain.resize(limit);
    stream_->next_out = plain.data();
    stream_->avail_out = static_cast<unsigned>(limit);
    const int state = BZ2_bzDecompress(stream_.get());
    if (state == BZ_MEM_ERROR) throw std::bad_alloc();
    plain.resize(limit - stream_->avail_out);
    if (state == BZ_STREAM_END) return stream_->avail_in == 0 ? State::ended : State::damaged;
    // All packed bytes are there, so libbz2 stops early only where the output is full.
    return state == BZ_OK && stream_->avail_out == 0 ? State::full : State::damaged;
}

}  // namespace bertpretrain
