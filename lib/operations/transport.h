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

/// Call it after the ranks have exchanged tensors, because NCCL loads its network plug-in with the first one. CPUs use sockets.
/// For GPUs, decides by this process's libraries and this host's adapters: libfabric with an EFA adapter is "efa", ibverbs with
/// another RDMA adapter "infiniband" (unless NCCL_NET or NCCL_IB_DISABLE forbid it), everything else "sockets".
/// @param root prefix of /sys and /proc
Transport find_transport(at::Device device, bool several_hosts, const std::filesystem::path& root = "/");

}  // namespace bertpretrain
