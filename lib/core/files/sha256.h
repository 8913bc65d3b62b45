#pragma once
// SHA-256 (FIPS 180-4) and HMAC (RFC 2104) with it, computed by OpenSSL with the processor's SHA instructions where it has them.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

struct evp_md_ctx_st;

namespace bertpretrain {

/// The hash of bytes that arrive in parts.
class Sha256 {
public:
    Sha256();
    void add(std::string_view bytes);
    /// Returns the 32-byte hash of the bytes so far.
    std::string so_far() const;
    /// The same. Must be the last call.
    std::string finish();

private:
    std::unique_ptr<evp_md_ctx_st, void (*)(evp_md_ctx_st*)> context_;
};

/// Returns the 32-byte hash.
std::string sha256(std::string_view bytes);

/// Returns bytes as lower-case hexadecimal digits.
std::string hexadecimal(std::string_view bytes);

/// Returns the message's 32-byte authentication code, which cannot be computed without the key.
std::string hmac_sha256(std::string_view key, std::string_view message);

/// Constant-time comparison: the time depends only on the lengths, so that it reveals nothing about a secret.
bool equal_secrets(std::string_view a, std::string_view b);

/// Returns random bytes from the operating system, for keys and nonces. No seed reproduces them. @throws std::system_error
std::string random_secret(std::size_t bytes);

}  // namespace bertpretrain
