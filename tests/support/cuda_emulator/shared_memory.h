#pragma once
// The shared memory of an emulated block.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace cuda_emulator {

/// Shared memory whose kernels' part begins at address 16: a multiple of 16 and of no more.
class SharedMemory {
public:
    static constexpr std::size_t first = 16, alignment = 1024;

    void resize(std::size_t bytes) {
        bytes_ = bytes;
        memory_.reset(static_cast<unsigned char*>(::operator new (first + bytes, std::align_val_t{alignment})));
    }
    void fill_with_nans() { std::memset(memory_.get(), 0xFF, first + bytes_); }
    unsigned char* begin() { return memory_.get() + first; }
    std::size_t address_of(const void* at) const {
        return static_cast<std::size_t>(static_cast<const unsigned char*>(at) - memory_.get());
    }
    bool contains(std::size_t address, std::size_t bytes) const { return address >= first && address + bytes <= first + bytes_; }
    std::uint16_t bf16_at(std::size_t address) const {
        std::uint16_t bits = 0;
        std::memcpy(&bits, memory_.get() + address, sizeof bits);
        return bits;
    }

private:
    struct Free {
        void operator()(unsigned char* memory) const { ::operator delete (memory, std::align_val_t{alignment}); }
    };
    std::unique_ptr<unsigned char, Free> memory_;
    std::size_t bytes_ = 0;
};

}  // namespace cuda_emulator
