#pragma once
// SHA-256 (FIPS 180-4) and HMAC (RFC 2104) with it.

#include <string>
#include <string_view>

namespace bertpretrain {

/// The 32 bytes of the hash.
std::string sha256(std::string_view bytes);

/// The 32 bytes of the message's authentication code: only who knows the key can compute it.
std::string hmac_sha256(std::string_view key, std::string_view message);

/// Whether the two are equal. The time it takes depends on the lengths alone, so that it reveals nothing about a secret.
bool equal_secrets(std::string_view a, std::string_view b);

/// Random bytes of the operating system, for keys and nonces. No seed repeats them. @throws std::system_error
std::string random_secret(std::size_t bytes);

}  // namespace bertpretrain
