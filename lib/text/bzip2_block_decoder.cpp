#include "text/bzip2_block_decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "text/bzip2_symbols.h"

namespace bertpretrain {
namespace {

constexpr unsigned checksum_at = 48;
constexpr std::size_t slices = 8;

using ChecksumTables = std::array<std::array<std::uint32_t, 256>, slices>;

/// Tables for CRC-32 with the highest bit first, eight bytes at a time (slicing-by-8).
constexpr ChecksumTables make_checksum_tables() {
    ChecksumTables tables{};
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
        std::uint32_t value = byte << 24;
        for (int bit = 0; bit < 8; ++bit) value = value << 1 ^ ((value >> 31) != 0 ? 0x04C11DB7U : 0U);
        tables[0][byte] = value;
    }
    for (std::size_t slice = 1; slice < slices; ++slice)
        for (std::size_t byte = 0; byte < 256; ++byte) {
            const std::uint32_t before = tables[slice - 1][byte];
            tables[slice][byte] = before << 8 ^ tables[0][before >> 24];
        }
    return tables;
}

std::uint32_t updated_checksum(std::uint32_t checksum, const char* data, std::size_t size) {
    static constexpr ChecksumTables tables = make_checksum_tables();
    const auto* bytes = reinterpret_cast<const unsigned char*>(data);
    for (; size >= slices; size -= slices, bytes += slices) {
        const std::uint32_t high =
            checksum ^ (static_cast<std::uint32_t>(bytes[0]) << 24 | static_cast<std::uint32_t>(bytes[1]) << 16 |
                        static_cast<std::uint32_t>(bytes[2]) << 8 | bytes[3]);
        checksum = tables[7][high >> 24] ^ tables[6][high >> 16 & 255] ^ tables[5][high >> 8 & 255] ^ tables[4][high & 255] ^
                   tables[3][bytes[4]] ^ tables[2][bytes[5]] ^ tables[1][bytes[6]] ^ tables[0][bytes[7]];
    }
    for (; size > 0; --size) checksum = checksum << 8 ^ tables[0][checksum >> 24 ^ *bytes++];
    return checksum;
}

}  // namespace

std::uint32_t checksum_of_block(const Bzip2Piece& piece) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < 5; ++i) bits = bits << 8 | static_cast<unsigned char>(piece.packed[checksum_at / 8 + i]);
    return static_cast<std::uint32_t>(bits >> (8 - piece.first_bit));
}

Bzip2BlockDecoder::Bzip2BlockDecoder(const Bzip2Piece& piece) {
    std::optional<Bzip2Symbols> symbols = read_bzip2_symbols(piece);
    if (!symbols) return;
    is_sound_ = true;
    expected_checksum_ = symbols->checksum;
    links_ = std::move(symbols->bytes);
    left_ = links_.size();
    invert(symbols->origin, symbols->counts);
}

/// Inverts the Burrows-Wheeler transform: links each byte to the one that follows it in the text.
void Bzip2BlockDecoder::invert(std::uint32_t origin, std::array<std::uint32_t, 256>& counts) {
    std::uint32_t begin = 0;
    for (std::uint32_t& count : counts) begin += std::exchange(count, begin);
    for (std::uint32_t i = 0; i < links_.size(); ++i) links_[counts[links_[i] & 0xFF]++] |= i << 8;
    place_ = links_[origin] >> 8;
}

Bzip2BlockDecoder::State Bzip2BlockDecoder::unpack(std::string& plain, std::size_t limit) {
    constexpr std::size_t longest_run = 255;
    plain.clear();
    if (!is_sound_) return State::damaged;
    plain.resize(limit + longest_run);
    char* out = plain.data();
    const char* const full = out + limit;
    for (; left_ > 0 && out < full; --left_) {
        const std::uint32_t link = links_[place_];
        place_ = link >> 8;
        const auto byte = static_cast<unsigned char>(link);
        if (run_ == 4) {
            std::memset(out, last_, byte);
            out += byte;
            run_ = 0;
            continue;
        }
        *out++ = static_cast<char>(byte);
        run_ = byte == last_ ? run_ + 1 : 1;
        last_ = byte;
    }
    plain.resize(static_cast<std::size_t>(out - plain.data()));
    checksum_ = updated_checksum(checksum_, plain.data(), plain.size());
    if (left_ > 0) return State::full;
    return ~checksum_ == expected_checksum_ ? State::ended : State::damaged;
}

}  // namespace bertpretrain
