#pragma once
// Memory that the system gives once and that is then used again, for blocks of any size that come and go as a step's tensors do.
//
// All blocks lie in one range of addresses. Free neighbours are one block, and a request gets the smallest block that holds it:
// what one batch has left fits the next, whose sizes are others. Kept by size class instead, every class would hold its own
// largest batch.

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace bertpretrain {

class Arena {
public:
    struct Usage {
        std::size_t held_bytes = 0;          ///< from the system; it hands over their pages when they are first touched
        std::size_t used_bytes = 0;          ///< by blocks that were taken and not given back
        std::size_t largest_used_bytes = 0;  ///< since the start
        std::size_t system_allocations = 0;  ///< how often `held` grew
    };

    /// @param room the most that it can hold; only addresses are reserved for it
    explicit Arena(std::size_t room);
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    /// A block of at least `bytes` bytes, aligned to a cache line; null where the room ends. Any thread may take and give back.
    /// @throws std::bad_alloc where the system has no more
    void* take(std::size_t bytes);
    /// @param block what take() returned
    void give_back(void* block);

    bool has(const void* address) const {
        const auto* byte = static_cast<const std::byte*>(address);
        return byte >= base_ && byte < base_ + room_;
    }
    Usage usage() const;

private:
    struct Block {
        std::size_t bytes;
        bool free;
    };
    using Blocks = std::map<std::size_t, Block>;  ///< by their offset; each begins where the one before it ends

    bool grow(std::size_t bytes);
    void insert_free(std::size_t offset, std::size_t bytes);

    mutable std::mutex guard_;
    void* reserved_ = nullptr;
    std::byte* base_ = nullptr;  ///< the first huge page in what is reserved
    std::size_t room_ = 0;
    Blocks blocks_;
    std::set<std::pair<std::size_t, std::size_t>> free_;  ///< (bytes, offset)
    Usage usage_;
};

}  // namespace bertpretrain
