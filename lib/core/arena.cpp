#include "core/arena.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <new>

#include <sys/mman.h>

#include "core/error.h"
#include "core/rounding.h"

namespace bertpretrain {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20, cache_line = 64, page = 4096;

/// Rounds up so that the remainder of a larger block stays big enough to reuse.
std::size_t block_bytes(std::size_t bytes) {
    return rounded_up(std::max(bytes, cache_line), bytes < 16 * page ? cache_line : page);
}

}  // namespace

Arena::Arena(std::size_t room) {
    room = rounded_up(room, huge_page);
    void* const reserved = ::mmap(nullptr, room + huge_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reserved == MAP_FAILED) return;  // address space is limited: an arena without capacity
    const auto address = reinterpret_cast<std::uintptr_t>(reserved);
    reserved_ = reserved;
    base_ = static_cast<std::byte*>(reserved) + (rounded_up(address, huge_page) - address);
    room_ = room;
    ::madvise(base_, room_, MADV_HUGEPAGE);  // where available: 512 times fewer page faults and TLB entries
}

Arena::~Arena() {
    if (reserved_ != nullptr) ::munmap(reserved_, room_ + huge_page);
}

void* Arena::take(std::size_t bytes) {
    if (bytes > room_) return nullptr;
    bytes = block_bytes(bytes);
    const std::lock_guard lock(guard_);
    auto fitting = free_.lower_bound({bytes, 0});
    if (fitting == free_.end()) {
        if (!grow(bytes)) return nullptr;
        fitting = free_.lower_bound({bytes, 0});
    }
    const auto [there, offset] = *fitting;
    free_.erase(fitting);
    blocks_[offset] = {bytes, false};
    if (there > bytes) insert_free(offset + bytes, there - bytes);
    usage_.used_bytes += bytes;
    usage_.largest_used_bytes = std::max(usage_.largest_used_bytes, usage_.used_bytes);
    return base_ + offset;
}

void Arena::give_back(void* block) {
    const std::lock_guard lock(guard_);
    const auto at = blocks_.find(static_cast<std::size_t>(static_cast<std::byte*>(block) - base_));
    check(at != blocks_.end() && !at->second.free, "the arena has no block in use at the address given back to it");
    auto [offset, bytes] = std::pair(at->first, at->second.bytes);
    usage_.used_bytes -= bytes;
    auto next = blocks_.erase(at);
    if (next != blocks_.end() && next->second.free) {
        bytes += next->second.bytes;
        free_.erase({next->second.bytes, next->first});
        next = blocks_.erase(next);
    }
    if (next != blocks_.begin() && std::prev(next)->second.free) {
        const auto before = std::prev(next);
        bytes += before->second.bytes;
        offset = before->first;
        free_.erase({before->second.bytes, before->first});
    }
    insert_free(offset, bytes);
}

Arena::Usage Arena::usage() const {
    const std::lock_guard lock(guard_);
    return usage_;
}

/// Extends the range so that it ends in a free block of at least `bytes`. Grows by at least a sixteenth of held_bytes, to grow
/// rarely. @returns false when the capacity is exhausted
bool Arena::grow(std::size_t bytes) {
    const bool ends_free = !blocks_.empty() && blocks_.rbegin()->second.free;
    const std::size_t there = ends_free ? blocks_.rbegin()->second.bytes : 0, held = usage_.held_bytes;
    const std::size_t needed = rounded_up(bytes - there, huge_page), wanted = rounded_up(held / 16, huge_page);
    if (needed > room_ - held) return false;
    const std::size_t more = std::min(std::max(needed, wanted), room_ - held);
    if (::mprotect(base_ + held, more, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
    if (ends_free) free_.erase({there, held - there});
    insert_free(held - there, there + more);
    usage_.held_bytes += more;
    ++usage_.system_allocations;
    return true;
}

void Arena::insert_free(std::size_t offset, std::size_t bytes) {
    blocks_[offset] = {bytes, true};
    free_.insert({bytes, offset});
}

}  // namespace bertpretrain
