#include "core/threads/numa.h"

#include <charconv>
#include <fstream>
#include <map>
#include <string>
#include <system_error>

#include <sched.h>

#include "core/threads/threads.h"

namespace bertpretrain {
namespace {

/// Reads a list of the kernel, such as 0-3,8.
NodeCores read_list(const std::string& text) {
    NodeCores cores;
    const char *at = text.data(), *const end = at + text.size();
    while (at < end) {
        int first = 0, last = 0;
        auto read = std::from_chars(at, end, first);
        if (read.ec != std::errc()) break;
        last = first;
        if (read.ptr < end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
        for (int core = first; core <= last; ++core) cores.push_back(core);
        at = read.ptr + 1;  // a comma
    }
    return cores;
}

}  // namespace

std::vector<NodeCores> numa_nodes(const std::filesystem::path& root) {
    std::map<int, NodeCores> by_number;
    std::error_code missing;
    for (const auto& entry : std::filesystem::directory_iterator(root / "sys/devices/system/node", missing)) {
        const std::string name = entry.path().filename().string();
        int number = 0;
        if (!name.starts_with("node") || std::from_chars(name.data() + 4, name.data() + name.size(), number).ec != std::errc())
            continue;
        std::string list;
        std::getline(std::ifstream(entry.path() / "cpulist"), list);
        if (NodeCores cores = read_list(list); !cores.empty()) by_number[number] = std::move(cores);
    }
    std::vector<NodeCores> nodes;
    for (auto& [number, cores] : by_number) nodes.push_back(std::move(cores));
    return nodes;
}

NodeCores cores_of_rank(const std::vector<NodeCores>& nodes, std::int64_t rank, std::int64_t ranks) {
    std::int64_t all = 0;
    for (const NodeCores& node : nodes) all += static_cast<std::int64_t>(node.size());
    // In units of 1 / ranks of a core, because a share need not be a whole number of cores.
    const std::int64_t share_begin = all * rank, share_end = all * (rank + 1);
    NodeCores cores;
    std::int64_t node_begin = 0;
    for (const NodeCores& node : nodes) {
        const std::int64_t node_end = node_begin + static_cast<std::int64_t>(node.size()) * ranks;
        if (node_begin < share_end && share_begin < node_end) cores.insert(cores.end(), node.begin(), node.end());
        node_begin = node_end;
    }
    return cores;
}

NodeCores bind_to_numa_nodes(std::int64_t rank, std::int64_t ranks) {
    available_cores();  // remembers its value
    const std::vector<NodeCores> nodes = numa_nodes();
    cpu_set_t allowed, chosen;
    CPU_ZERO(&allowed);
    CPU_ZERO(&chosen);
    if (ranks < 2 || nodes.size() < 2 || ::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
    for (const NodeCores& node : nodes)
        for (const int core : node)
            if (core >= CPU_SETSIZE || !CPU_ISSET(static_cast<std::size_t>(core), &allowed)) return {};
    NodeCores cores = cores_of_rank(nodes, rank, ranks);
    for (const int core : cores) CPU_SET(static_cast<std::size_t>(core), &chosen);
    if (::sched_setaffinity(0, sizeof chosen, &chosen) != 0) return {};
    return cores;
}

}  // namespace bertpretrain
