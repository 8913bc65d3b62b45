#include "model/tensor_memory.h"

#include <atomic>
#include <memory>
#include <new>
#include <string>

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <c10/util/Exception.h>
#include <unistd.h>

namespace bertpretrain {
namespace {

std::size_t physical_bytes() {
    return static_cast<std::size_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Small tensors have mixed lifetimes; a separate arena for them keeps the arena of large tensors free of holes.
class TensorMemory final : public c10::Allocator {
public:
    TensorMemory() : small_(physical_bytes() / 4), large_(physical_bytes()) {}

    c10::DataPtr allocate(std::size_t bytes) override {
        void* at = bytes == 0 ? nullptr : (bytes <= largest_small ? small_ : large_).take(bytes);
        if (at == nullptr && bytes > 0) at = c10::alloc_cpu(bytes);  // the arena is full: allocate like torch
        return {at, at, &give_back, c10::Device(c10::kCPU)};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
    void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

    Arena::Usage usage() const {
        Arena::Usage all = large_.usage();
        const Arena::Usage small = small_.usage();
        all.held_bytes += small.held_bytes;
        all.used_bytes += small.used_bytes;
        all.largest_used_bytes += small.largest_used_bytes;
        all.system_allocations += small.system_allocations;
        return all;
    }

private:
    static constexpr std::size_t largest_small = std::size_t{1} << 20;
    static void give_back(void* at);

    Arena small_, large_;
};

std::atomic<TensorMemory*> memory_in_use{nullptr};

void TensorMemory::give_back(void* at) {
    TensorMemory& memory = *memory_in_use;
    if (memory.large_.has(at)) memory.large_.give_back(at);
    else if (memory.small_.has(at)) memory.small_.give_back(at);
    else if (at != nullptr) c10::free_cpu(at);
}

}  // namespace

void keep_tensor_memory() {
    // Never destroyed: tensors may outlive all other objects.
    [[maybe_unused]] static const bool begun = [] {
        memory_in_use = std::make_unique<TensorMemory>().release();
        c10::SetCPUAllocator(memory_in_use, 1);
        return true;
    }();
}

Arena::Usage tensor_memory_usage() {
    const TensorMemory* const memory = memory_in_use;
    return memory == nullptr ? Arena::Usage{} : memory->usage();
}

void with_bad_alloc(const std::function<void()>& body) {
    try {
        body();
    } catch (const c10::Error& error) {  // GPU allocators throw a subclass; the CPU's is recognized only by its message
        const std::string what = error.what_without_backtrace();
        if (what.find("allocate memory") == what.npos && what.find("out of memory") == what.npos) throw;
        throw std::bad_alloc();
    }
}

}  // namespace bertpretrain
