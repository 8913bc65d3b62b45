#include "parallel/signed_store.h"

#include "core/error.h"
#include "core/files/sha256.h"

namespace bertpretrain {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t code_bytes = 32;

std::string_view text_of(const Bytes& bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

}  // namespace

std::string SignedStore::code(const std::string& key, std::string_view value) const {
    return hmac_sha256(key_,
                       concat(key.size(), ":", key, value));  // the code covers the key: a value is valid only under its own
}

std::vector<std::uint8_t> SignedStore::with_code(const std::string& key, const Bytes& value) const {
    const std::string own_code = code(key, text_of(value));
    Bytes bytes(own_code.begin(), own_code.end());
    bytes.insert(bytes.end(), value.begin(), value.end());
    return bytes;
}

std::vector<std::uint8_t> SignedStore::verified(const std::string& key, const Bytes& signed_value) const {
    const std::string_view all = text_of(signed_value), value = all.substr(std::min(all.size(), code_bytes));
    if (!equal_secrets(all.substr(0, code_bytes), code(key, value)))
        throw DistributedError(concat("the store's value of \"", key, "\" was not written by a rank of this run: ",
                                      signed_value.size(), " bytes without the run's signature",
                                      "\n  do: find which other process connects to MASTER_ADDR:MASTER_PORT, and block it"));
    return {value.begin(), value.end()};
}

c10::intrusive_ptr<c10d::Store> SignedStore::clone() { return c10::make_intrusive<SignedStore>(store_->clone(), key_); }

void SignedStore::set(const std::string& key, const Bytes& value) { store_->set(key, with_code(key, value)); }

std::vector<std::uint8_t> SignedStore::get(const std::string& key) { return verified(key, store_->get(key)); }

std::vector<std::uint8_t> SignedStore::compareSet(const std::string& key, const Bytes& expected, const Bytes& desired) {
    const Bytes nothing;  // c10d's value for a key that does not exist yet
    return verified(key, store_->compareSet(key, expected.empty() ? nothing : with_code(key, expected), with_code(key, desired)));
}

}  // namespace bertpretrain
