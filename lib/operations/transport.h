#pragma once
// What carries tensors between hosts here, and through which adapters.

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

/// To be asked when the ranks have exchanged tensors: NCCL loads its network plug-in with the first one. CPUs use sockets; of
/// GPUs, the libraries in this process and the adapters of this host tell: libfabric and an EFA adapter are "efa", ibverbs and
/// another adapter of that kind "infiniband" (unless NCCL_NET or NCCL_IB_DISABLE forbid it), else "sockets".
/// @param root before /sys and /proc
Transport find_transport(at::Device device, bool several_hosts, const std::filesystem::path& root = "/");

}  // namespace bertpretrain
