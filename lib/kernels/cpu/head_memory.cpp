#include "kernels/cpu/head_memory.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace bertpretrain::cpu {
namespace {

constexpr std::align_val_t alignment{64};

struct Block {
    void* memory;
    std::size_t bytes;
    bool taken;
};

/// A thread's blocks. There are as many as one head needs at a time, so looking through them is fast.
class Blocks {
public:
    Blocks() = default;
    ~Blocks() {
        for (const Block& block : blocks_) ::operator delete(block.memory, alignment);
    }
    Blocks(const Blocks&) = delete;
    Blocks& operator=(const Blocks&) = delete;

    /// Returns the smallest free block that is large enough. If there is none, a free block is replaced by a larger one.
    void* take(std::size_t bytes) {
        Block *fitting = nullptr, *free = nullptr;
        for (Block& block : blocks_) {
            if (block.taken) continue;
            free = &block;
            if (block.bytes >= bytes && (fitting == nullptr || block.bytes < fitting->bytes)) fitting = &block;
        }
        if (fitting == nullptr) {
            if (free == nullptr) free = &blocks_.emplace_back(Block{nullptr, 0, false});
            ::operator delete(std::exchange(free->memory, nullptr), alignment);
            free->bytes = 0;
            free->memory = ::operator new(bytes, alignment);
            free->bytes = bytes;
            fitting = free;
        }
        fitting->taken = true;
        return fitting->memory;
    }

    void keep(const void* memory) {
        std::find_if(blocks_.begin(), blocks_.end(), [&](const Block& block) { return block.memory == memory; })->taken = false;
    }

private:
    std::vector<Block> blocks_;
};

Blocks& blocks() {
    static thread_local Blocks blocks;
    return blocks;
}

}  // namespace

void* take_head_memory(std::size_t bytes) { return blocks().take(std::max<std::size_t>(bytes, 1)); }

void keep_head_memory(void* memory) { blocks().keep(memory); }

}  // namespace bertpretrain::cpu
