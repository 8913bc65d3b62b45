#pragma once
// Where the ranks of a run find each other.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "parallel/launch_environment.h"

namespace c10d {
class Store;
}

namespace bertpretrain {

/// A c10d store; torchrun's own where its agent keeps one, else served by rank 0. Copies are the same store.
class MeetingPlace {
public:
    /// @param patience how long to wait for the others: hosts of a job may start minutes apart
    /// @throws DistributedError when the host cannot be reached, or too few ranks come
    MeetingPlace(const Launch& launch, std::chrono::seconds patience);

    /// Serves a store for processes of this host. @returns a meeting place whose port() others can connect to
    static MeetingPlace on_this_host();
    std::uint16_t port() const;

    const std::shared_ptr<c10d::Store>& store() const { return store_; }

private:
    explicit MeetingPlace(std::shared_ptr<c10d::Store> store) : store_(std::move(store)) {}

    std::shared_ptr<c10d::Store> store_;
};

}  // namespace bertpretrain
