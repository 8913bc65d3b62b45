#pragma once
// A c10d store with authenticated values: c10d's own store takes values from every process that reaches its port.

#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace bertpretrain {

/// Writes each value to another store with a code that only processes with the run's key can compute, and takes no value without
/// it. A stranger can still delete or replace values, which ends the run, and read them.
class SignedStore final : public c10d::Store {
public:
    SignedStore(c10::intrusive_ptr<c10d::Store> store, std::string key) : store_(std::move(store)), key_(std::move(key)) {}

    using c10d::Store::compareSet;
    using c10d::Store::set;
    c10::intrusive_ptr<c10d::Store> clone() override;
    void set(const std::string& key, const std::vector<std::uint8_t>& value) override;
    /// @throws DistributedError when the value does not come from a process with the run's key
    std::vector<std::uint8_t> get(const std::string& key) override;
    std::vector<std::uint8_t> compareSet(const std::string& key, const std::vector<std::uint8_t>& expected,
                                         const std::vector<std::uint8_t>& desired) override;

    /// Sums are made where the store is, which knows no key: they are not signed. Nothing of ours uses them.
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
