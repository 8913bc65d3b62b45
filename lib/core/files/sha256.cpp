#include "core/files/sha256.h"

#include <array>
#include <cerrno>
#include <system_error>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr std::size_t hash_bytes = 32;

/// Keeps OpenSSL from freeing its tables at exit, when a thread that writes a checkpoint may still use them.
void prepare_openssl() {
    static const int done = OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
    check(done == 1, "OPENSSL_init_crypto");
}

std::string text_of(const std::array<unsigned char, hash_bytes>& hash) { return {hash.begin(), hash.end()}; }

}  // namespace

Sha256::Sha256() : context_(nullptr, EVP_MD_CTX_free) {
    prepare_openssl();
    context_.reset(EVP_MD_CTX_new());
    check(context_ && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1, "EVP_DigestInit_ex");
}

void Sha256::add(std::string_view bytes) {
    check(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1, "EVP_DigestUpdate");
}

std::string Sha256::so_far() const {
    Sha256 copy;
    check(EVP_MD_CTX_copy_ex(copy.context_.get(), context_.get()) == 1, "EVP_MD_CTX_copy_ex");
    return copy.finish();
}

std::string Sha256::finish() {
    std::array<unsigned char, hash_bytes> hash{};
    check(EVP_DigestFinal_ex(context_.get(), hash.data(), nullptr) == 1, "EVP_DigestFinal_ex");
    return text_of(hash);
}

std::string sha256(std::string_view bytes) {
    Sha256 hash;
    hash.add(bytes);
    return hash.finish();
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
    prepare_openssl();
    std::array<unsigned char, hash_bytes> code{};
    const auto* bytes = reinterpret_cast<const unsigned char*>(message.data());
    check(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, message.size(), code.data(), nullptr) != nullptr,
          "HMAC");
    return text_of(code);
}

bool equal_secrets(std::string_view a, std::string_view b) {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
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
