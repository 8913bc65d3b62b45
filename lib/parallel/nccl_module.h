#pragma once
// The world of processes with a GPU each. Its code is a shared object beside the program, opened only where it is needed, so
// that a program on CPUs neither links nor loads CUDA.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "parallel/store.h"
#include "parallel/world.h"

namespace bertpretrain {

/// What a rank with a GPU needs to know of its world.
struct NcclRank {
    std::int64_t rank = 0, size = 1;
    std::int64_t device = 0;  ///< CUDA's number of the rank's own GPU, which is current
    std::string address;      ///< this host's, for messages between CPUs; empty: as GLOO_SOCKET_IFNAME says
    std::chrono::milliseconds timeout{};
};

/// The world that the module makes. @throws DistributedError when not all ranks come within the timeout
/// @throws ConfigError when the module is not there or cannot be loaded
std::unique_ptr<World> make_nccl_world(const MeetingPlace& place, const NcclRank& rank);

/// What the module exports under this name.
using MakeNcclWorld = World*(const MeetingPlace& place, const NcclRank& rank);
inline constexpr const char* nccl_module_file = "libbertpretrain_nccl.so";
inline constexpr const char* nccl_module_symbol = "bertpretrain_make_nccl_world";

}  // namespace bertpretrain
