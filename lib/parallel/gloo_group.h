#pragma once
// The only file that sees c10d's Gloo: raw exchanges between processes on CPUs.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <ATen/core/Tensor.h>

#include "parallel/store.h"

namespace bertpretrain {

/// Ranks with connections of their own. All begin the same operations in the same order, with contiguous tensors; each returns
/// at once with what waits until it is done. Several may be under way. Destroyed while an exception is on its way, or after an
/// operation has failed, it leaves its connections and threads behind, for they may hang on peers that do not come.
class GlooGroup {
public:
    /// @param name of this group, the same on all ranks, another one for each group
    /// @param address this host's, which the others can reach; empty: as GLOO_SOCKET_IFNAME says
    /// @param beside a group whose thread moves this one's bytes too; null: it has a thread of its own
    /// @throws DistributedError when not all ranks come within `timeout`
    GlooGroup(const MeetingPlace& place, const std::string& name, std::int64_t rank, std::int64_t size,
              const std::string& address, std::chrono::milliseconds timeout, const GlooGroup* beside = nullptr);
    GlooGroup(const GlooGroup&) = delete;
    GlooGroup& operator=(const GlooGroup&) = delete;
    ~GlooGroup();

    /// From now on this rank accepts no further connection at the group's address; the group and those `beside` it must have been
    /// made. Gloo itself listens as long as a group lives, and keeps every connection that is not a rank's.
    void admit_no_more();

    /// Between two ranks; those under way at a time have different tags.
    /// @param what both are parts of, for errors
    std::function<void()> send(const char* what, const at::Tensor& tensor, std::int64_t to, int tag);
    std::function<void()> receive(const char* what, const at::Tensor& tensor, std::int64_t from, int tag);

    /// output = the inputs of all ranks, one after the other. Sends (W - 1) times the input.
    std::function<void()> all_gather(const at::Tensor& input, const at::Tensor& output);

    /// Rank 0's output = the inputs of all ranks, one after the other; elsewhere it is not used. Sends the input once.
    std::function<void()> gather_at_first(const at::Tensor& input, const at::Tensor& output);
    /// Rank 0's tensor is put into every other rank's.
    std::function<void()> broadcast_from_first(const at::Tensor& tensor);

    void set_timeout(std::chrono::milliseconds timeout) { timeout_ = timeout; }

private:
    struct Group;
    template <class Operation>
    std::function<void()> begin(const char* what, const Operation& operation, bool has_limit = true);
    [[noreturn]] void fail(const char* what, const std::exception& error);

    std::unique_ptr<Group> group_;
    std::int64_t rank_, size_;
    std::atomic<std::chrono::milliseconds> timeout_;
    std::atomic<bool> failed_ = false;
};

}  // namespace bertpretrain
