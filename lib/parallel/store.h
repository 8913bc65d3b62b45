#pragma once
// The rendezvous store through which the ranks of a run connect to each other.

#include <chrono>
#include <memory>
#include <string>

#include "parallel/launch_environment.h"

namespace c10d {
class Store;
}

namespace bertpretrain {

class ListeningSocket;

/// A c10d store. For ranks of --local-ranks it is an in-memory file that only they have open, without any socket. Otherwise it is
/// that of torchrun's agent, or one served by rank 0 on MASTER_ADDR's interface; values in such a store are signed
/// (signed_store.h). Copies share the store; in one process they may serve several ranks.
class MeetingPlace {
public:
    /// Blocks until all ranks have connected (does not wait with the in-memory file).
    /// @param timeout for the others to connect: hosts of a job may start minutes apart
    /// @throws DistributedError when the host cannot be reached or a rank does not connect in time
    /// @throws ConfigError on all ranks when they have different secrets (run_key.h)
    MeetingPlace(const Launch& launch, std::chrono::seconds timeout);

    /// Returns a store in this process's memory.
    static MeetingPlace in_this_process();

    /// Makes rank 0's store ignore new connections; all ranks must be connected. Does nothing for other stores.
    void admit_no_more() const;

    const std::shared_ptr<c10d::Store>& store() const { return store_; }

private:
    explicit MeetingPlace(std::shared_ptr<c10d::Store> store) : store_(std::move(store)) {}

    std::shared_ptr<ListeningSocket> door_;  ///< socket of the store that rank 0 serves; null elsewhere
    std::shared_ptr<c10d::Store> store_;
};

}  // namespace bertpretrain
