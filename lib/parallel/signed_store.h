#pragma once
// A c10d store with authenticated values. c10d's own store accepts values from every process that reaches its port.

#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace bertpretrain {

/// Stores each value with an HMAC that only processes with the run's key can compute, and rejects values without it. An outsider
/// can still read values, or delete or replace them, which ends the run.
class SignedStore final : public c10d::Store {
public:
    SignedStore(c10::intrusive_ptr<c10d::Store> store, std::string key) : store_(std::move(store)), key_(std::move(key)) {}

    using c10d::Store::compareSet;
    using c10d::Store::set;
    c10::intrusive_ptr<c10d::Store> clone() override;
    void set(const std::string& key, const std::vector<std::uint8_t>& value) override;
    /// @throws DistributedError when the value was not written by a process with the run's key
    std::vector<std::uint8_t> get(const std::string& key) override;
    std::vector<std::uint8_t> compareSet(const std::string& key, const std::vector<std::uint8_t>& expected,
                                         const std::vector<std::uint8_t>& desired) override;

    /// Not signed: the store's server adds the numbers and does not have the key. This program does not use it.
    std::int64_t add(const std::string& key, std::int64_t value) override { return store_->add(key, value); }
    bool deleteKey(const std::string& key) override { return store_->deleteKey(key); }
    bool check(const std::vector<std::string>& keys) override { return store_->check(keys); }
    std::int64_t getNumKeys() override { return store_->getNumKeys(); }
    void wait(const std::vector<std::string>& keys) override { store_->wait(keys); }
    void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override {
        store_->wait(keys, timeout);
    }
    const std::chrono::milliseconds& getTimeout() const noexcept override { return store_->getTimeout(); }
    void setTimeout(const std::chrono::milliseconds& timeout) override { store_->setTimeout(timeout); }

private:
    std::string code(const std::string& key, std::string_view value) const;
    std::vector<std::uint8_t> with_code(const std::string& key, const std::vector<std::uint8_t>& value) const;
    std::vector<std::uint8_t> verified(const std::string& key, const std::vector<std::uint8_t>& signed_value) const;

    c10::intrusive_ptr<c10d::Store> store_;
    std::string key_;
};

}  // namespace bertpretrain
