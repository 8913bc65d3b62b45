#pragma once
// A file in memory, for readers that take a path.

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace bertpretrain {

class MemoryFile {
public:
    explicit MemoryFile(std::span<const std::byte> content) : handle_(::memfd_create("fuzz", 0)) {
        if (handle_ < 0 || ::write(handle_, content.data(), content.size()) != static_cast<ssize_t>(content.size())) std::abort();
    }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;
    ~MemoryFile() { ::close(handle_); }

    std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(handle_); }

private:
    int handle_;
};

}  // namespace bertpretrain
