#pragma once
// A c10d store that is given up when its server does not answer.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <torch/csrc/distributed/c10d/Store.hpp>

#include "core/threads/detached_worker.h"

namespace bertpretrain {

/// Asks a store on a thread of its own. c10d waits without a limit for a server that has accepted its connection and is stopped
/// then, as a suspended host is: only a wait for a key has a time limit, and the reply to its cancellation has none. Nor has the
/// lock of a store in a file.
class AnsweringStore final : public c10d::Store {
public:
    using StorePointer = c10::intrusive_ptr<c10d::Store>;

    /// @param open connects to the store @param timeout of open(), and of every question until setTimeout()
    /// @throws DistributedError, as all members do, when there is no answer within twice the timeout, or 5 s more than it
    AnsweringStore(std::function<StorePointer()> open, std::chrono::milliseconds timeout);

    c10::intrusive_ptr<c10d::Store> clone() override;
    void set(const std::string& key, const std::vector<std::uint8_t>& value) override;
    std::vector<std::uint8_t> compareSet(const std::string& key, const std::vector<std::uint8_t>& expected,
                                         const std::vector<std::uint8_t>& desired) override;
    std::vector<std::uint8_t> get(const std::string& key) override;
    std::int64_t add(const std::string& key, std::int64_t value) override;
    bool deleteKey(const std::string& key) override;
    bool check(const std::vector<std::string>& keys) override;
    std::int64_t getNumKeys() override;
    void wait(const std::vector<std::string>& keys) override { wait(keys, timeout_); }
    void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override;
    void setTimeout(const std::chrono::milliseconds& timeout) override;

private:
    template <typename Question>
    auto ask(std::chrono::milliseconds timeout, Question question);

    std::shared_ptr<DetachedWorker> worker_ = std::make_shared<DetachedWorker>(0);
    StorePointer store_;
};

}  // namespace bertpretrain
