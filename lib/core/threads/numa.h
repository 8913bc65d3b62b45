#pragma once
// Which cores belong to which memory of a host with several sockets.

#include <cstdint>
#include <filesystem>
#include <vector>

namespace bertpretrain {

/// The numbers of a node's cores, as the kernel counts them.
using NodeCores = std::vector<int>;

/// Returns the cores of each NUMA node that has some, in the order of nodes; empty where the kernel does not list nodes.
/// @param root folder that contains /sys
std::vector<NodeCores> numa_nodes(const std::filesystem::path& root = "/");

/// Returns the cores for one of the ranks of a host: all cores of the nodes in which its share lies. Ranks have equal shares of
/// the nodes' cores, counted node by node. So with as many ranks as nodes, or a multiple, each has the cores of one node.
/// @param rank among the `ranks` of the host
NodeCores cores_of_rank(const std::vector<NodeCores>& nodes, std::int64_t rank, std::int64_t ranks);

/// Keeps this thread and those that it starts on the cores of cores_of_rank(), so that what they allocate lies in the memory of
/// these cores. Does nothing on a host with one node, for a single rank, or where the process may not use all cores already,
/// because its launcher has chosen them then. available_cores() keeps its value.
/// @returns the cores; empty if nothing was changed
NodeCores bind_to_numa_nodes(std::int64_t rank, std::int64_t ranks);

}  // namespace bertpretrain
