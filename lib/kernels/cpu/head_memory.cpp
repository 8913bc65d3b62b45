#include "kernels/cpu/head_memory.h"

#include <algorithm>
#include <new>
#include <vector>

#include "core/error.h"

namespace bertpretrain::cpu {
namespace {

constexpr std::align_val_t alignment{64};

struct Chunk {
    std::byte* memory;
    std::size_t bytes, used;
};

struct Block {
    std::byte* memory;
    std::size_t bytes;
    bool taken;
};

/// A thread's memory, as a stack of blocks. Usually it is one chunk, which reserve() has made large enough.
class Stack {
public:
    Stack() = default;
    ~Stack() { release(); }
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;

    void reserve(std::size_t bytes) {
        if (!blocks_.empty() || (chunks_.size() == 1 && chunks_.front().bytes >= bytes)) return;
        release();
        add_chunk(std::max(bytes, use_.largest_used));
    }

    void* take(std::size_t bytes) {
        bytes = head_memory_of(std::max<std::size_t>(bytes, 1));
        if (chunks_.empty() || chunks_.back().bytes - chunks_.back().used < bytes) add_chunk(bytes);
        Chunk& chunk = chunks_.back();
        blocks_.push_back({chunk.memory + chunk.used, bytes, true});
        chunk.used += bytes;
        used_ += bytes;
        use_.largest_used = std::max(use_.largest_used, used_);
        return blocks_.back().memory;
    }

    /// Memory below blocks that are still taken becomes free with them.
    void keep(const void* memory) {
        const auto block = std::find_if(blocks_.rbegin(), blocks_.rend(), [&](const Block& one) { return one.memory == memory; });
        check(block != blocks_.rend() && block->taken, "head memory is kept that this thread has not taken");
        block->taken = false;
        while (!blocks_.empty() && !blocks_.back().taken) pop();
    }

    HeadMemoryUse use() const { return use_; }

private:
    void add_chunk(std::size_t bytes) {
        chunks_.push_back({static_cast<std::byte*>(::operator new(bytes, alignment)), bytes, 0});
        use_.held += bytes;
    }

    void pop() {
        used_ -= blocks_.back().bytes;
        chunks_.back().used -= blocks_.back().bytes;
        blocks_.pop_back();
        if (chunks_.back().used == 0 && chunks_.size() > 1) remove_chunk();
    }

    void remove_chunk() {
        ::operator delete(chunks_.back().memory, alignment);
        use_.held -= chunks_.back().bytes;
        chunks_.pop_back();
    }

    void release() {
        while (!chunks_.empty()) remove_chunk();
    }

    std::vector<Chunk> chunks_;
    std::vector<Block> blocks_;
    std::size_t used_ = 0;
    HeadMemoryUse use_;
};

Stack& stack() {
    static thread_local Stack stack;
    return stack;
}

}  // namespace

void reserve_head_memory(std::size_t bytes) { stack().reserve(bytes); }

void* take_head_memory(std::size_t bytes) { return stack().take(bytes); }

void keep_head_memory(void* memory) { stack().keep(memory); }

HeadMemoryUse head_memory_use() { return stack().use(); }

}  // namespace bertpretrain::cpu
