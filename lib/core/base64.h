#pragma once
// Base64 (RFC 4648), decoded by OpenSSL.

#include <optional>
#include <string>
#include <string_view>

namespace bertpretrain {

/// Returns the bytes that a text with padding stands for; nullopt if it is no Base64.
std::optional<std::string> decoded_base64(std::string_view text);

}  // namespace bertpretrain
