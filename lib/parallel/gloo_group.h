#pragma once
// Raw exchanges between processes on CPUs. Only gloo_group.cpp includes c10d's Gloo.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <ATen/core/Tensor.h>

#include "parallel/peer_names.h"
#include "parallel/store.h"

namespace bertpretrain {

/// A Gloo process group with connections of its own. All ranks begin the same operations in the same order, with contiguous
/// tensors. An operation returns at once, with a function that blocks until it is done; several may be in flight. The function
/// may outlive the group: it shares what it needs, because a detached thread may still wait in it when an exception destroys the
/// group (AsyncQueue). If the group is destroyed after a failed operation or while an exception propagates, its connections and
/// threads leak, which could otherwise hang on missing peers.
class GlooGroup {
public:
    /// @param name the same on all ranks, and unique per group
    /// @param address of this host, reachable by the others; empty: chosen by GLOO_SOCKET_IFNAME
    /// @param beside a group whose I/O thread and listening socket this one shares; null: it has its own
    /// @throws DistributedError when not all ranks connect within `timeout`
    GlooGroup(const MeetingPlace& place, const std::string& name, std::int64_t rank, std::int64_t size,
              const std::string& address, std::chrono::milliseconds timeout, const GlooGroup* beside = nullptr);
    GlooGroup(const GlooGroup&) = delete;
    GlooGroup& operator=(const GlooGroup&) = delete;
    ~GlooGroup();

    /// Stops accepting connections at the group's address. Call it after this group and all groups made `beside` it are
    /// connected. Without it, Gloo listens as long as the group lives and keeps every connection, even one that is not a rank's.
    void admit_no_more();

    /// Point-to-point transfers. From one rank to another, those with the same tag arrive in the order in which they began.
    /// Nothing is sent before the receiver has begun to receive, and its announcement of that has arrived.
    /// @param what the operation that the transfer is part of, for error messages
    /// @param waits_for_others whether `from` may have to wait for other ranks before it can send. Then a timeout does not prove
    /// that it is lost, and the error does not name it.
    std::function<void()> send(const char* what, const at::Tensor& tensor, std::int64_t to, int tag);
    std::function<void()> receive(const char* what, const at::Tensor& tensor, std::int64_t from, int tag,
                                  bool waits_for_others = false);

    /// tensor = the sum of all ranks' tensors, in Gloo's order of summation.
    std::function<void()> all_reduce(const at::Tensor& tensor);

    /// Rank 0's output = the inputs of all ranks in rank order; other ranks' output is not used. Sends the input once.
    std::function<void()> gather_at_first(const at::Tensor& input, const at::Tensor& output);
    /// Copies rank 0's tensor into every other rank's.
    std::function<void()> broadcast_from_first(const at::Tensor& tensor);

    void set_timeout(std::chrono::milliseconds timeout);

    /// From now on errors name the rank that was lost, where that is known. Call it before the first operation.
    void set_peers(std::shared_ptr<const PeerNames> peers);

private:
    struct Group;
    enum class Kind { collective, transfer };
    /// @param suspect the rank that an error names if its text names none
    template <class Operation>
    std::function<void()> begin(const char* what, Kind kind, const Operation& operation,
                                std::optional<std::int64_t> suspect = std::nullopt);

    std::shared_ptr<Group> group_;  ///< shared with the functions of operations in flight
};

}  // namespace bertpretrain
