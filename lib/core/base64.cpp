#include "core/base64.h"

#include <algorithm>
#include <limits>

#include <openssl/evp.h>

namespace bertpretrain {
namespace {

bool is_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
}

}  // namespace

std::optional<std::string> decoded_base64(std::string_view text) {
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    if (text.size() % 4 != 0 || text.size() > std::numeric_limits<int>::max()) return std::nullopt;
    if (!std::all_of(text.begin(), text.end() - static_cast<std::ptrdiff_t>(padding), is_digit)) return std::nullopt;
    std::string bytes(text.size() / 4 * 3, '\0');
    const int decoded = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
    if (decoded != static_cast<int>(bytes.size())) return std::nullopt;
    bytes.resize(bytes.size() - padding);  // EVP_DecodeBlock counts the padding as bytes
    return bytes;
}

}  // namespace bertpretrain
