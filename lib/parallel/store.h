#pragma once
// Where the ranks of a run find each other.

#include <chrono>
#include <memory>
#include <string>

#include "parallel/launch_environment.h"

namespace c10d {
class Store;
}

namespace bertpretrain {

class ListeningSocket;

/// A c10d store. For ranks that the program started itself it is a file in memory that only they have open, without any socket;
/// else torchrun's own where its agent keeps one, or one served by rank 0 at MASTER_ADDR's interface. Values in a store with a
/// port are signed (signed_store.h). Copies are the same store; in one process, they may be the stores of several ranks.
class MeetingPlace {
public:
    /// Waits until all ranks are there.
    /// @param timeout how long to wait for the others: hosts of a job may start minutes apart
    /// @throws DistributedError when the host cannot be reached, or too few ranks come
    /// @throws ConfigError on all ranks when they have different secrets (run_key.h)
    MeetingPlace(const Launch& launch, std::chrono::seconds timeout);

    /// A store in this process's own memory.
    static MeetingPlace in_this_process();

    /// From now on rank 0's store takes no new connection. All ranks must be connected. Does nothing with other stores.
    void admit_no_more() const;

    const std::shared_ptr<c10d::Store>& store() const { return store_; }

private:
    explicit MeetingPlace(std::shared_ptr<c10d::Store> store) : store_(std::move(store)) {}

    std::shared_ptr<ListeningSocket> door_;  ///< of the store that rank 0 serves; null elsewhere
    std::shared_ptr<c10d::Store> store_;
};

}  // namespace bertpretrain
