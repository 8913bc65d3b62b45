#pragma once
// SHA-256 (FIPS 180-4) and HMAC (RFC 2104) with it.

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace bertpretrain {

/// The hash of bytes that arrive in parts.
class Sha256 {
public:
    void add(std::string_view bytes);
    /// Returns the 32-byte hash. Must be the last call.
    std::string finish();

private:
    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::string waiting_;  ///< less than a block
    std::uint64_t bytes_ = 0;
};

/// Returns the 32-byte hash.
std::string sha256(std::string_view bytes);

/// Returns a file's hash as 64 hex digits, as sha256sum prints it.
/// @param sign_of_life called after each part of 8 MiB; may be empty
/// @throws std::system_error when the file cannot be read
std::string sha256_of_file(const std::filesystem::path& file, const std::function<void()>& sign_of_life = {});

/// Returns bytes as lower-case hexadecimal digits.
std::string hexadecimal(std::string_view bytes);

/// Returns the message's 32-byte authentication code, which cannot be computed without the key.
std::string hmac_sha256(std::string_view key, std::string_view message);

/// Constant-time comparison: the time depends only on the lengths, so that it reveals nothing about a secret.
bool equal_secrets(std::string_view a, std::string_view b);

/// Returns random bytes from the operating system, for keys and nonces. No seed reproduces them. @throws std::system_error
std::string random_secret(std::size_t bytes);

}  // namespace bertpretrain
