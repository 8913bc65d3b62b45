#include "text/bzip2_symbols.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace bertpretrain {
namespace {

constexpr unsigned most_alphabet = 258, most_groups = 6, most_selectors = 18002, longest_code = 20;
constexpr unsigned group_size = 50;  // symbols that share a table
constexpr unsigned table_bits = 10;  // codes up to this length are decoded by one table lookup

/// Reads bits, the highest first. Reading past the end gives zeros, and is_over() returns true afterwards.
class BitReader {
public:
    explicit BitReader(const Bzip2Piece& piece)
        : bytes_(piece.packed + std::string(reserve, '\0')), at_(piece.first_bit), end_(piece.first_bit + piece.bits) {}

    std::uint32_t peek(unsigned count) const {  // count 1 to 32
        std::uint64_t word = 0;
        std::memcpy(&word, bytes_.data() + at_ / 8, sizeof word);
        return static_cast<std::uint32_t>(__builtin_bswap64(word) << (at_ % 8) >> (64 - count));
    }
    void skip(unsigned count) { at_ += count; }
    std::uint32_t take(unsigned count) {
        const std::uint32_t bits = peek(count);
        skip(count);
        return bits;
    }
    /// Whether more bits were read than there are. Must be called at least once per `reserve` - 8 bytes.
    bool is_over() const { return at_ > end_; }
    bool is_at_end() const { return at_ == end_; }

private:
    static constexpr std::size_t reserve = 256;
    std::string bytes_;
    std::uint64_t at_, end_;
};

/// A canonical Huffman code.
class Code {
public:
    /// @returns false when no code has these lengths
    bool build(const std::array<std::uint8_t, most_alphabet>& lengths, unsigned alphabet) {
        short_.fill(0);
        std::uint32_t code = 0;
        std::uint16_t index = 0;
        for (unsigned length = 1; length <= longest_code; ++length) {
            first_[length] = code;
            offset_[length] = index;
            for (unsigned symbol = 0; symbol < alphabet; ++symbol) {
                if (lengths[symbol] != length) continue;
                if (code >> length != 0) return false;
                sorted_[index++] = static_cast<std::uint16_t>(symbol);
                if (length <= table_bits)
                    std::fill_n(short_.begin() + (code << (table_bits - length)), std::size_t{1} << (table_bits - length),
                                static_cast<std::uint16_t>(symbol << 4 | length));
                ++code;
            }
            end_[length] = code;
            code <<= 1;
        }
        return true;
    }

    /// Returns the next symbol, or most_alphabet when no code matches.
    unsigned read(BitReader& bits) const {
        const std::uint32_t ahead = bits.peek(longest_code);
        if (const unsigned entry = short_[ahead >> (longest_code - table_bits)]; entry != 0) {
            bits.skip(entry & 15);
            return entry >> 4;
        }
        for (unsigned length = table_bits + 1; length <= longest_code; ++length) {
            const std::uint32_t code = ahead >> (longest_code - length);
            if (code >= end_[length]) continue;
            bits.skip(length);
            return sorted_[offset_[length] + code - first_[length]];
        }
        return most_alphabet;
    }

private:
    std::array<std::uint16_t, std::size_t{1} << table_bits> short_{};  ///< symbol << 4 | length; 0: a longer code
    std::array<std::uint32_t, longest_code + 1> first_{}, end_{};
    std::array<std::uint16_t, longest_code + 1> offset_{};
    std::array<std::uint16_t, most_alphabet> sorted_{};
};

/// Bytes, the most recently used first.
class MoveToFront {
public:
    void add(unsigned char byte) { bytes_[size_++] = byte; }
    unsigned size() const { return size_; }
    unsigned char front() const { return bytes_[0]; }
    unsigned char take(unsigned place) {
        const unsigned char byte = bytes_[place];
        std::memmove(bytes_.data() + 1, bytes_.data(), place);
        bytes_[0] = byte;
        return byte;
    }

private:
    std::array<unsigned char, 256> bytes_{};
    unsigned size_ = 0;
};

class SymbolReader {
public:
    explicit SymbolReader(const Bzip2Piece& piece)
        : bits_(piece), most_bytes_(static_cast<std::size_t>(piece.level - '0') * 100'000) {}

    std::optional<Bzip2Symbols> run() {
        bits_.skip(48);
        symbols_.checksum = bits_.take(32);
        const bool is_randomised = bits_.take(1) != 0;
        symbols_.origin = bits_.take(24);
        if (is_randomised || !read_alphabet() || !read_selectors() || !read_codes() || !read_bytes()) return std::nullopt;
        if (!bits_.is_at_end() || symbols_.origin >= symbols_.bytes.size()) return std::nullopt;
        return std::move(symbols_);
    }

private:
    bool read_alphabet() {
        const std::uint32_t rows = bits_.take(16);
        for (unsigned row = 0; row < 16; ++row) {
            if ((rows >> (15 - row) & 1) == 0) continue;
            const std::uint32_t used = bits_.take(16);
            for (unsigned i = 0; i < 16; ++i)
                if ((used >> (15 - i) & 1) != 0) recent_.add(static_cast<unsigned char>(row * 16 + i));
        }
        return recent_.size() > 0 && !bits_.is_over();
    }

    bool read_selectors() {
        groups_ = bits_.take(3);
        const unsigned count = bits_.take(15);
        if (groups_ < 2 || groups_ > most_groups || count == 0) return false;
        std::array<std::uint8_t, most_groups> order{0, 1, 2, 3, 4, 5};
        for (unsigned s = 0; s < count; ++s) {
            unsigned place = 0;
            while (bits_.take(1) != 0)
                if (++place == groups_) return false;
            std::rotate(order.begin(), order.begin() + place, order.begin() + place + 1);
            if (s < most_selectors) selectors_.push_back(order[0]);  // some compressors write more, which are unused
            if (bits_.is_over()) return false;
        }
        return true;
    }

    bool read_codes() {
        const unsigned alphabet = recent_.size() + 2;
        for (unsigned group = 0; group < groups_; ++group) {
            std::array<std::uint8_t, most_alphabet> lengths{};
            unsigned length = bits_.take(5);
            for (unsigned symbol = 0; symbol < alphabet; ++symbol) {
                while (true) {
                    if (length < 1 || length > longest_code || bits_.is_over()) return false;
                    if (bits_.take(1) == 0) break;
                    length += bits_.take(1) == 0 ? 1U : ~0U;
                }
                lengths[symbol] = static_cast<std::uint8_t>(length);
            }
            if (!codes_[group].build(lengths, alphabet)) return false;
        }
        return true;
    }

    bool read_bytes() {
        const unsigned end = recent_.size() + 1;
        symbols_.bytes.resize(most_bytes_);
        std::size_t run = 0, digit = 1;
        for (const std::uint8_t group : selectors_) {
            const Code& code = codes_[group];
            for (unsigned i = 0; i < group_size; ++i) {
                const unsigned symbol = code.read(bits_);
                if (symbol < 2) {  // a run of the front byte: its length in bijective base 2, with digits 1 and 2
                    if (digit > most_bytes_) return false;
                    run += digit << symbol;
                    digit <<= 1;
                    continue;
                }
                if (run > 0) {
                    if (!put(recent_.front(), run)) return false;
                    run = 0;
                    digit = 1;
                }
                if (symbol >= end) {
                    symbols_.bytes.resize(filled_);
                    return symbol == end && !bits_.is_over();
                }
                if (!put(recent_.take(symbol - 1), 1)) return false;
            }
            if (bits_.is_over()) return false;
        }
        return false;
    }

    bool put(unsigned char byte, std::size_t times) {
        if (times > most_bytes_ - filled_) return false;
        symbols_.counts[byte] += static_cast<std::uint32_t>(times);
        for (const std::size_t end = filled_ + times; filled_ < end; ++filled_) symbols_.bytes[filled_] = byte;
        return true;
    }

    BitReader bits_;
    std::size_t most_bytes_, filled_ = 0;
    Bzip2Symbols symbols_;
    MoveToFront recent_;
    unsigned groups_ = 0;
    std::vector<std::uint8_t> selectors_;
    std::array<Code, most_groups> codes_;
};

}  // namespace

std::optional<Bzip2Symbols> read_bzip2_symbols(const Bzip2Piece& piece) {
    if (piece.level < '1' || piece.level > '9') return std::nullopt;
    return SymbolReader(piece).run();
}

}  // namespace bertpretrain
