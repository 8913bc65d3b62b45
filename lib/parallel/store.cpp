#include "parallel/store.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

using StorePointer = c10::intrusive_ptr<c10d::Store>;

/// c10d counts references inside its objects; the rest of the program need not know.
std::shared_ptr<c10d::Store> shared(StorePointer store) {
    c10d::Store* raw = store.get();
    return {raw, [kept = std::move(store)](c10d::Store*) mutable { kept.reset(); }};
}

c10::intrusive_ptr<c10d::TCPStore> connect(const Launch& launch, std::chrono::seconds patience) {
    c10d::TCPStoreOptions options;
    options.port = launch.master_port;
    options.isServer = launch.rank == 0 && !launch.agent_keeps_store;
    options.waitWorkers = false;  // the first exchange waits, and says who is missing
    options.timeout = patience;
    return c10::make_intrusive<c10d::TCPStore>(launch.master_address, options);
}

}  // namespace

MeetingPlace::MeetingPlace(const Launch& launch, std::chrono::seconds patience) {
    try {
        // An agent's store lives through restarts: what an earlier attempt left in it is not ours. Rank 0's own is always new,
        // and hosts that join later count fewer attempts than those that were there.
        const std::string prefix = launch.agent_keeps_store ? concat("bertpretrain/", launch.attempt) : "bertpretrain";
        store_ = shared(c10::make_intrusive<c10d::PrefixStore>(prefix, connect(launch, patience)));
    } catch (const std::exception& error) {
        throw DistributedError(concat("rank ", launch.rank, " cannot reach the meeting place ", launch.master_address, ":",
                                      launch.master_port, " (MASTER_ADDR, MASTER_PORT) within ", patience.count(),
                                      " s: ", first_line(error.what()),
                                      "\n  do: see that rank 0's host runs, and that the port is open and used by nothing else"));
    }
}

MeetingPlace MeetingPlace::on_this_host() {
    c10d::TCPStoreOptions options;
    options.port = 0;  // any that is free
    options.isServer = true;
    options.waitWorkers = false;
    return MeetingPlace(shared(c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options)));
}

std::uint16_t MeetingPlace::port() const {
    const auto* tcp = dynamic_cast<const c10d::TCPStore*>(store_.get());
    check(tcp != nullptr, "a store without a port");
    return tcp->getPort();
}

}  // namespace bertpretrain
