#pragma once
// A memory arena for the tensors of a training step: memory is allocated from the system once and then reused.
//
// All blocks lie in one address range. Adjacent free blocks are merged, and a request takes the smallest free block that fits, so
// that memory freed by one batch serves the next one, whose tensors have other sizes. With size classes, each class would hold
// its own largest batch.

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace bertpretrain {

class Arena {
public:
    struct Usage {
        std::size_t held_bytes = 0;          ///< allocated from the system, which maps each page on first touch
        std::size_t used_bytes = 0;          ///< in blocks that are taken and not yet given back
        std::size_t largest_used_bytes = 0;  ///< peak of used_bytes
        std::size_t system_allocations = 0;  ///< how many times held_bytes grew
    };

    /// @param room capacity in bytes. Only address space is reserved; without enough of it, the arena has no capacity.
    explicit Arena(std::size_t room);
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    /// Returns a block of at least `bytes` bytes, aligned to 64 bytes, or null when the capacity is exhausted. Thread-safe.
    /// @throws std::bad_alloc when the system has no more memory
    void* take(std::size_t bytes);
    /// Frees a block returned by take(). Thread-safe. @throws std::logic_error when it is not in use
    void give_back(void* block);

    /// Whether the address lies in this arena's address range.
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
    using Blocks = std::map<std::size_t, Block>;  ///< by offset, without gaps

    bool grow(std::size_t bytes);
    void insert_free(std::size_t offset, std::size_t bytes);

    mutable std::mutex guard_;
    void* reserved_ = nullptr;
    std::byte* base_ = nullptr;  ///< first huge page boundary in the reserved range
    std::size_t room_ = 0;
    Blocks blocks_;
    std::set<std::pair<std::size_t, std::size_t>> free_;  ///< (bytes, offset)
    Usage usage_;
};

}  // namespace bertpretrain
