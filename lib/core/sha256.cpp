#include "core/sha256.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <system_error>

#include <sys/random.h>

namespace bertpretrain {
namespace {

constexpr std::size_t hash_block_bytes = 64;

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
    0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
    0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
    0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

using State = std::array<std::uint32_t, 8>;

/// FIPS 180-4, 6.2.2.
void add_block(State& state, std::string_view block) {
    std::array<std::uint32_t, 64> w{};
    for (std::size_t i = 0; i < hash_block_bytes; ++i) w.at(i / 4) = w.at(i / 4) << 8 | static_cast<std::uint8_t>(block[i]);
    for (std::size_t t = 16; t < 64; ++t) {
        const std::uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        const std::uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t t = 0; t < 64; ++t) {
        const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const std::uint32_t first = h + sum1 + ((e & f) ^ (~e & g)) + round_constants[t] + w[t];
        const std::uint32_t second = sum0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    const State words{a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < state.size(); ++i) state.at(i) += words.at(i);
}

std::string combined(std::string_view key, char mask) {
    std::string block(hash_block_bytes, mask);
    for (std::size_t i = 0; i < key.size(); ++i) block[i] = static_cast<char>(block[i] ^ key[i]);
    return block;
}

}  // namespace

void Sha256::add(std::string_view bytes) {
    bytes_ += bytes.size();
    if (!waiting_.empty()) {
        const std::size_t missing = std::min(hash_block_bytes - waiting_.size(), bytes.size());
        waiting_.append(bytes.substr(0, missing));
        bytes.remove_prefix(missing);
        if (waiting_.size() < hash_block_bytes) return;
        add_block(state_, waiting_);
        waiting_.clear();
    }
    for (; bytes.size() >= hash_block_bytes; bytes.remove_prefix(hash_block_bytes))
        add_block(state_, bytes.substr(0, hash_block_bytes));
    waiting_.assign(bytes);
}

std::string Sha256::finish() {
    std::string last = waiting_ + '\x80';
    last.resize(last.size() <= hash_block_bytes - 8 ? hash_block_bytes : 2 * hash_block_bytes);
    const std::uint64_t bits = bytes_ * 8;
    for (std::size_t i = 0; i < 8; ++i) last[last.size() - 1 - i] = static_cast<char>(bits >> 8 * i);
    for (std::size_t at = 0; at < last.size(); at += hash_block_bytes)
        add_block(state_, std::string_view(last).substr(at, hash_block_bytes));
    std::string hash;
    for (const std::uint32_t word : state_)
        for (int shift = 24; shift >= 0; shift -= 8) hash += static_cast<char>(word >> shift);
    return hash;
}

std::string sha256(std::string_view bytes) {
    Sha256 hash;
    hash.add(bytes);
    return hash.finish();
}

std::string sha256_of_file(const std::filesystem::path& file, const std::function<void()>& sign_of_life) {
    constexpr std::size_t part_bytes = std::size_t{8} << 20;
    std::ifstream in(file, std::ios::binary);
    const auto refuse = [&] { throw std::system_error(errno, std::generic_category(), file.string()); };
    if (!in || std::filesystem::is_directory(file)) refuse();
    std::string part(part_bytes, '\0');
    Sha256 hash;
    while (in) {
        in.read(part.data(), static_cast<std::streamsize>(part.size()));
        if (in.bad()) refuse();
        hash.add(std::string_view(part).substr(0, static_cast<std::size_t>(in.gcount())));
        if (sign_of_life) sign_of_life();
    }
    return hexadecimal(hash.finish());
}

std::string hexadecimal(std::string_view bytes) {
    std::string digits;
    for (const char byte : bytes) {
        digits += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
        digits += "0123456789abcdef"[static_cast<unsigned char>(byte) & 15];
    }
    return digits;
}

std::string hmac_sha256(std::string_view key, std::string_view message) {
    const std::string fitting = key.size() > hash_block_bytes ? sha256(key) : std::string(key);
    return sha256(combined(fitting, 0x5c) + sha256(combined(fitting, 0x36).append(message)));
}

bool equal_secrets(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    int difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) difference |= a[i] ^ b[i];
    return difference == 0;
}

std::string random_secret(std::size_t bytes) {
    std::string secret(bytes, '\0');
    for (std::size_t filled = 0; filled < bytes;) {
        const ssize_t count = ::getrandom(secret.data() + filled, bytes - filled, 0);
        if (count < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "getrandom");
        if (count > 0) filled += static_cast<std::size_t>(count);
    }
    return secret;
}

}  // namespace bertpretrain
