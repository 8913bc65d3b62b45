#pragma once
// The world of processes with one GPU each. Its code is a shared object next to the program, loaded only where it is needed, so
// that a program on CPUs neither links nor loads CUDA.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "parallel/store.h"
#include "parallel/world.h"

namespace bertpretrain {

/// A rank's place in the world, and its GPU.
struct NcclRank {
    std::int64_t rank = 0, size = 1;
    std::int64_t device = 0;  ///< CUDA ordinal of the rank's GPU, which must be the current device
    std::string address;      ///< of this host, for host-side messages; empty: chosen by GLOO_SOCKET_IFNAME
    std::chrono::milliseconds timeout{};
};

/// Loads the module and returns the world that it makes. @throws DistributedError when not all ranks connect within the timeout
/// @throws ConfigError when the module is missing or cannot be loaded
std::unique_ptr<World> make_nccl_world(const MeetingPlace& place, const NcclRank& rank);

/// The type, file and name of the function that the module exports.
using MakeNcclWorld = World*(const MeetingPlace& place, const NcclRank& rank);
inline constexpr const char* nccl_module_file = "libbertpretrain_nccl.so";
inline constexpr const char* nccl_module_symbol = "bertpretrain_make_nccl_world";

}  // namespace bertpretrain
