#pragma once
// A limit on this process's address space: the system then refuses memory and threads.

#include <cstddef>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

namespace bertpretrain::testing {

/// While it lives, the process can have `bytes` of address space more than it has now.
class LimitedAddressSpace {
public:
    explicit LimitedAddressSpace(std::size_t bytes) {
        ::getrlimit(RLIMIT_AS, &before_);
        std::size_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;  // of the address space
        const rlimit limit{pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + bytes, before_.rlim_max};
        ::setrlimit(RLIMIT_AS, &limit);
    }
    ~LimitedAddressSpace() { ::setrlimit(RLIMIT_AS, &before_); }
    LimitedAddressSpace(const LimitedAddressSpace&) = delete;
    LimitedAddressSpace& operator=(const LimitedAddressSpace&) = delete;

private:
    rlimit before_{};
};

}  // namespace bertpretrain::testing
