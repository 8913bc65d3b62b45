#include "parallel/store.h"

#include <algorithm>
#include <chrono>

#include <fcntl.h>

#include <torch/csrc/distributed/c10d/FileStore.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "core/error.h"
#include "core/strings.h"
#include "parallel/answering_store.h"
#include "parallel/host_address.h"
#include "parallel/listening_socket.h"
#include "parallel/reachable.h"
#include "parallel/run_key.h"
#include "parallel/signed_store.h"

namespace bertpretrain {
namespace {

using StorePointer = c10::intrusive_ptr<c10d::Store>;

/// Wraps c10d's intrusive pointer, so that the rest of the program does not depend on it.
std::shared_ptr<c10d::Store> shared(StorePointer store) {
    c10d::Store* raw = store.get();
    return {raw, [kept = std::move(store)](c10d::Store*) mutable { kept.reset(); }};
}

bool serves(const Launch& launch) { return launch.rank == 0 && !launch.agent_keeps_store; }

bool others_come(const Launch& launch) {
    return !launch.on_one_host() && launch.master_address != "localhost" && !is_loopback(launch.master_address);
}

StorePointer connect(const Launch& launch, const ListeningSocket* door, std::chrono::seconds timeout) {
    c10d::TCPStoreOptions options;
    options.port = launch.master_port;
    options.isServer = door != nullptr;
    if (door != nullptr) options.masterListenFd = ::fcntl(door->descriptor(), F_DUPFD_CLOEXEC, 0);
    options.waitWorkers = false;  // the first exchange waits instead, and names the rank that is missing
    // A store that is not reached in time makes c10d sleep for up to a minute more, to try once again when the time is over.
    const auto begin = std::chrono::steady_clock::now();
    if (door == nullptr) wait_until_reachable(launch.master_address, launch.master_port, timeout);
    const auto waited = std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - begin);
    options.timeout = std::max(std::chrono::seconds(1), timeout - waited);
    const bool has_address = door != nullptr && !door->address().empty();
    const std::string address = has_address ? door->address() : launch.master_address;
    auto store = c10::make_intrusive<AnsweringStore>(
        [=]() -> StorePointer { return c10::make_intrusive<c10d::TCPStore>(address, options); }, options.timeout);
    store->setTimeout(timeout);
    // An agent's store survives restarts and may hold values of earlier attempts, so its prefix contains the attempt. Rank 0's
    // own store is always new; and a host that joins later counts fewer attempts than the others, so the prefixes would differ.
    const std::string prefix = launch.agent_keeps_store ? concat("bertpretrain/", launch.attempt) : "bertpretrain";
    return c10::make_intrusive<c10d::PrefixStore>(prefix, std::move(store));
}

/// Opens the in-memory file that the ranks of --local-ranks inherit. Processes that the ranks start do not inherit it.
StorePointer inherited(int descriptor, std::chrono::seconds timeout) {
    if (::fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0)
        throw ConfigError(concat("environment: ", local_store_variable, " = ", descriptor, " is not an open file descriptor",
                                 "\n  do: unset it; --local-ranks sets it for the ranks that it starts"));
    constexpr int unlimited = -1;  // number of ranks: c10d deletes the file after the last of a known number
    // A rank that is stopped while it has locked the file keeps the others in a lock without a time limit.
    auto store = c10::make_intrusive<AnsweringStore>(
        [=]() -> StorePointer { return c10::make_intrusive<c10d::FileStore>(concat("/proc/self/fd/", descriptor), unlimited); },
        timeout);
    store->setTimeout(timeout);
    return store;
}

/// Returns a view of the store that accepts only values signed by ranks of this run, under a prefix of its own.
StorePointer signed_by_ranks(const StorePointer& store, const Launch& launch) {
    const std::string key = agree_on_run_key(*store, launch.rank, launch.world_size, launch.secret);
    return c10::make_intrusive<SignedStore>(c10::make_intrusive<c10d::PrefixStore>(store_prefix(key), store), key);
}

}  // namespace

MeetingPlace::MeetingPlace(const Launch& launch, std::chrono::seconds timeout) {
    if (launch.local_store >= 0) {
        store_ = shared(inherited(launch.local_store, timeout));
        return;
    }
    try {
        if (serves(launch))
            door_ = std::make_shared<ListeningSocket>(launch.master_address, launch.master_port, others_come(launch));
        store_ = shared(signed_by_ranks(connect(launch, door_.get(), timeout), launch));
    } catch (const Error&) { throw; } catch (const std::exception& error) {
        throw DistributedError(
            concat("rank ", launch.rank, " cannot reach the store at ", launch.master_address, ":", launch.master_port,
                   " (MASTER_ADDR, MASTER_PORT) within ", timeout.count(), " s: ", first_line(error.what()),
                   "\n  do: check that rank 0's host is up, and that the port is open and not used by another program"));
    }
}

MeetingPlace MeetingPlace::in_this_process() { return MeetingPlace(shared(c10::make_intrusive<c10d::HashStore>())); }

void MeetingPlace::admit_no_more() const {
    if (door_) bertpretrain::admit_no_more(door_->descriptor());
}

}  // namespace bertpretrain
