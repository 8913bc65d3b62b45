#include "parallel/gloo_group.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

#include "core/environment.h"
#include "core/error.h"
#include "core/output/guard.h"
#include "core/strings.h"
#include "core/threads/answer_within.h"
#include "core/torch_versions.h"
#include "parallel/listening_socket.h"

namespace bertpretrain {
namespace {

/// c10d registers each operation in a per-process table that is not thread-safe (torch 2.11). The async queue's thread and the
/// main thread both begin operations, so this mutex serializes them.
std::mutex one_begins_at_a_time;

at::Tensor as_bytes(const at::Tensor& tensor) { return tensor.view(at::kByte); }

using Options = c10d::ProcessGroupGloo::Options;

c10::intrusive_ptr<Options> options_for(const std::string& address, std::chrono::milliseconds timeout) {
    if (address.empty())
        return default_gloo_options<c10d::ProcessGroupGloo>(timeout, environment_variable("GLOO_SOCKET_IFNAME").value_or(""),
                                                            c10d::getDefaultGlooLazyInit());
    auto options = Options::create(timeout);
    options->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname(address));
    return options;
}

/// Returns the sockets that started to listen during make(). Gloo does not expose its sockets; calls are serialized.
std::vector<int> sockets_of(const std::function<void()>& make) {
    static std::mutex one_at_a_time;
    const std::lock_guard lock(one_at_a_time);
    const std::vector<int> before = listening_sockets();
    make();
    std::vector<int> added;
    for (const int socket : listening_sockets())
        if (std::find(before.begin(), before.end(), socket) == before.end()) added.push_back(socket);
    return added;
}

using Gloo = c10::intrusive_ptr<c10d::ProcessGroupGloo>;

/// Connects to all ranks. Gloo waits five times the timeout for a peer that has published its address and is gone then.
/// @throws DistributedError when it takes longer than with_grace(timeout)
Gloo connected(const c10::intrusive_ptr<c10d::Store>& store, std::int64_t rank, std::int64_t size,
               const c10::intrusive_ptr<Options>& options, std::chrono::milliseconds timeout) {
    DetachedWorker worker(0);
    const auto limit = with_grace(timeout);
    auto answer = answer_within(worker, limit, [=] {
        return c10::make_intrusive<c10d::ProcessGroupGloo>(store, static_cast<int>(rank), static_cast<int>(size), options);
    });
    if (answer) return answer->get();
    throw DistributedError(concat("rank ", rank, " of ", size, " has not connected to all other ranks within ",
                                  std::chrono::duration_cast<std::chrono::seconds>(limit).count(),
                                  " s\n  do: read the other ranks' logs: one of them has ended or hangs, or cannot be reached"));
}

}  // namespace

struct GlooGroup::Group {
    const std::int64_t rank, size;
    std::atomic<std::chrono::milliseconds> timeout;
    std::atomic<bool> failed = false;        ///< an operation has failed, or an exception has destroyed the GlooGroup
    std::shared_ptr<const PeerNames> peers;  ///< null: not known
    c10::intrusive_ptr<Options> options;
    std::vector<int> doors;  ///< listening sockets of the options' devices; empty where another group made the devices
    c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;

    Group(std::int64_t rank_, std::int64_t size_, std::chrono::milliseconds timeout_)
        : rank(rank_), size(size_), timeout(timeout_) {}
    Group(const Group&) = delete;
    Group& operator=(const Group&) = delete;
    ~Group() {
        if (!failed) return;
        static_cast<void>(gloo.release());
        static_cast<void>(options.release());
    }

    /// @param suspect the rank that the error names if its text names none
    [[noreturn]] void fail(const char* what, const std::exception& error, std::optional<std::int64_t> suspect);
};

GlooGroup::GlooGroup(const MeetingPlace& place, const std::string& name, std::int64_t rank, std::int64_t size,
                     const std::string& address, std::chrono::milliseconds timeout, const GlooGroup* beside)
    : group_(std::make_shared<Group>(rank, size, timeout)) {
    try {
        // The caller keeps the store alive.
        auto store = c10::intrusive_ptr<c10d::Store>::reclaim_copy(place.store().get());
        if (beside != nullptr) group_->options = beside->group_->options;
        else group_->doors = sockets_of([&] { group_->options = options_for(address, timeout); });
        if (c10d::getDefaultGlooLazyInit()) group_->doors.clear();  // TORCH_GLOO_LAZY_INIT: ranks connect at their first send
        group_->gloo = connected(c10::make_intrusive<c10d::PrefixStore>(name, store), rank, size, group_->options, timeout);
    } catch (const std::exception& error) {
        group_->failed = true;
        if (known_error(error)) throw;
        throw DistributedError(
            concat("rank ", rank, " of ", size, " cannot connect to the other ranks: ", first_line(error.what()),
                   "\n  do: check that all ranks were started; set GLOO_SOCKET_IFNAME to choose the interface"));
    }
}

GlooGroup::~GlooGroup() {
    if (std::uncaught_exceptions() > 0) group_->failed = true;
}

void GlooGroup::set_timeout(std::chrono::milliseconds timeout) { group_->timeout = timeout; }

void GlooGroup::set_peers(std::shared_ptr<const PeerNames> peers) { group_->peers = std::move(peers); }

void GlooGroup::admit_no_more() {
    for (const int socket : std::exchange(group_->doors, {})) bertpretrain::admit_no_more(socket);
}

void GlooGroup::Group::fail(const char* what, const std::exception& error, std::optional<std::int64_t> suspect) {
    failed = true;
    std::string reason = first_line(error.what()), lost = peers ? peers->find(reason) : "";
    if (lost.empty() && suspect) lost = peers ? peers->name(static_cast<std::size_t>(*suspect)) : concat("rank ", *suspect);
    if (const std::size_t source = reason.find("] "); reason.starts_with("[/") && source != reason.npos)
        reason.erase(0, source + 2);
    throw DistributedError(
        concat("rank ", rank, " of ", size, " lost ", lost.empty() ? "a peer or the network" : lost, " in ", what, ": ", reason));
}

template <class Operation>
std::function<void()> GlooGroup::begin(const char* what, Kind kind, const Operation& operation,
                                       std::optional<std::int64_t> suspect) {
    check(!group_->failed, "operation begun on a Gloo group that has failed");
    try {
        const std::lock_guard lock(one_begins_at_a_time);
        return [group = group_, what, kind, suspect, work = operation(*group_->gloo, group_->timeout.load())] {
            try {
                if (kind == Kind::transfer) work->wait(group->timeout.load());
                else work->wait();  // collectives were given their time limit when they began
            } catch (const std::exception& error) { group->fail(what, error, suspect); }
        };
    } catch (const std::exception& error) { group_->fail(what, error, suspect); }
}

std::function<void()> GlooGroup::send(const char* what, const at::Tensor& tensor, std::int64_t to, int tag) {
    const auto operation = [&](c10d::ProcessGroupGloo& gloo, std::chrono::milliseconds) {
        std::vector<at::Tensor> bytes{as_bytes(tensor)};
        return gloo.send(bytes, static_cast<int>(to), tag);
    };
    return begin(what, Kind::transfer, operation, to);
}

std::function<void()> GlooGroup::receive(const char* what, const at::Tensor& tensor, std::int64_t from, int tag,
                                         bool waits_for_others) {
    const auto operation = [&](c10d::ProcessGroupGloo& gloo, std::chrono::milliseconds) {
        std::vector<at::Tensor> bytes{as_bytes(tensor)};
        return gloo.recv(bytes, static_cast<int>(from), tag);
    };
    return begin(what, Kind::transfer, operation, waits_for_others ? std::nullopt : std::optional(from));
}

std::function<void()> GlooGroup::all_reduce(const at::Tensor& tensor) {
    return begin("all-reduce", Kind::collective, [&](c10d::ProcessGroupGloo& gloo, std::chrono::milliseconds timeout) {
        c10d::AllreduceOptions options;
        options.timeout = timeout;
        std::vector<at::Tensor> one{tensor};
        return gloo.allreduce(one, options);
    });
}

std::function<void()> GlooGroup::gather_at_first(const at::Tensor& input, const at::Tensor& output) {
    return begin("gather", Kind::collective, [&](c10d::ProcessGroupGloo& gloo, std::chrono::milliseconds timeout) {
        c10d::GatherOptions options;
        options.timeout = timeout;
        std::vector<at::Tensor> from{as_bytes(input)};
        std::vector<std::vector<at::Tensor>> to;
        if (group_->rank == 0) to.push_back(as_bytes(output).chunk(group_->size));
        return gloo.gather(to, from, options);
    });
}

std::function<void()> GlooGroup::broadcast_from_first(const at::Tensor& tensor) {
    return begin("broadcast", Kind::collective, [&](c10d::ProcessGroupGloo& gloo, std::chrono::milliseconds timeout) {
        c10d::BroadcastOptions options;
        options.timeout = timeout;
        std::vector<at::Tensor> bytes{as_bytes(tensor)};
        return gloo.broadcast(bytes, options);
    });
}

}  // namespace bertpretrain
