#pragma once
// Detects the transport and the network adapters that carry tensors between hosts.

#include <filesystem>
#include <string>
#include <vector>

#include <c10/core/Device.h>

namespace bertpretrain {

struct Transport {
    std::string name;                   ///< "efa", "infiniband" or "sockets"; on one host "loopback" or "memory"
    std::vector<std::string> adapters;  ///< e.g. "eth0 25000 Mb/s", "rdmap16s27 efa"
    std::string text() const;           ///< "efa (rdmap16s27, rdmap32s27)"
};

/// Returns what NCCL's log says about the network that it has chosen: "efa", "infiniband" or "sockets"; "" if it says nothing.
/// The plugin for EFA may be loaded and still choose TCP, which only the log shows.
std::string network_in_nccl_log(const std::string& log);

/// Makes NCCL log its choice of network to a file in each process's memory, for find_transport(). Call it before the first
/// collective. Changes nothing where the user has set NCCL_DEBUG_FILE, or NCCL_DEBUG to a level that shows the choice.
void log_network_choice();

/// Call it after the ranks have exchanged tensors, because NCCL loads its network plug-in with the first one. CPUs use sockets.
/// For GPUs, reads NCCL's log, if log_network_choice() has asked for it. Without a log, decides by this process's libraries and
/// this host's adapters: libfabric with an EFA adapter is "efa", ibverbs with another RDMA adapter "infiniband" (unless NCCL_NET
/// or NCCL_IB_DISABLE forbid it), everything else "sockets".
/// @param root prefix of /sys and /proc
Transport find_transport(at::Device device, bool several_hosts, const std::filesystem::path& root = "/");

}  // namespace bertpretrain
