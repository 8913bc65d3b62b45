#include "core/threads/physical_cores.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <string>

#include <sched.h>

#include "core/concat.h"
#include "core/threads/threads.h"

namespace bertpretrain {

std::size_t physical_cores_of(const std::vector<int>& hardware_threads, const std::filesystem::path& root) {
    std::set<std::string> cores;  // each by the list of its hardware threads, such as "0,32"
    for (const int thread : hardware_threads) {
        std::string siblings;
        std::getline(std::ifstream(root / concat("sys/devices/system/cpu/cpu", thread, "/topology/thread_siblings_list")),
                     siblings);
        cores.insert(siblings.empty() ? concat("thread ", thread) : siblings);
    }
    return cores.size();
}

namespace {

std::size_t count_available() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) return available_cores();
    std::vector<int> hardware_threads;
    for (int thread = 0; thread < CPU_SETSIZE; ++thread)
        if (CPU_ISSET(static_cast<std::size_t>(thread), &allowed)) hardware_threads.push_back(thread);
    return std::clamp(physical_cores_of(hardware_threads), std::size_t{1}, available_cores());
}

}  // namespace

std::size_t available_physical_cores() {
    static const std::size_t cores = count_available();
    return cores;
}

}  // namespace bertpretrain
