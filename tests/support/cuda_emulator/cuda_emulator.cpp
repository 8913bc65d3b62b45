// Runs each block's threads as fibers, in a random order.
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/cuda_emulator/cuda_runtime.h"
#include "support/cuda_emulator/shared_memory.h"

namespace cuda_emulator {
namespace {

constexpr unsigned warp_lanes = 32, largest_block = 1024;
constexpr std::size_t stack_bytes = 256 * 1024, shared_bytes_unasked = 48 * 1024;

enum class State { runnable, waits_for_warp, waits_for_block, done };

struct Copy {
    void* to;
    const void* from;
    std::size_t bytes;
};

/// A matmul of a warpgroup, as one lane has begun it.
struct GroupMatmul {
    float* sums;
    bool has_registers, transposed_b, accumulate;
    std::array<unsigned, 4> a;
    std::uint64_t descriptor_a, descriptor_b;
};
constexpr std::size_t sums_of_lane = 32;
using LaneSums = std::array<float, sums_of_lane>;

/// What a lane has told the matrix instructions of its warpgroup.
struct GroupMatmuls {
    std::vector<GroupMatmul> begun;   ///< and not waited for
    std::map<float*, LaneSums> sums;  ///< their sums so far
    bool is_open = false;             ///< whether a fence precedes the next one
    bool is_committed = true;         ///< whether none was begun since the last commit
    bool has_unshown_copies = false;  ///< whether what it copied may be invisible to them
    std::uint64_t count = 0;
};

struct Fiber {
    jmp_buf place{};            ///< where it goes on
    bool awaits_block = false;  ///< at the start of fiber_main's loop
    std::vector<Copy> copies;   ///< begun and not waited for
    GroupMatmuls matmuls;
    std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(stack_bytes);
    State state = State::done;
    bool has_waited = false;  ///< for the kernel before
};

/// The values that the lanes of a warp exchange. A lane reads `published` before it arrives at the next exchange, so no value is
/// overwritten too early.
struct Exchange {
    std::array<std::uint64_t, warp_lanes> given{}, published{};
    unsigned arrived = 0;
    std::string kind;
};

struct Block {
    std::vector<Fiber> fibers = std::vector<Fiber>(largest_block);
    std::vector<Exchange> warps = std::vector<Exchange>(largest_block / warp_lanes);
    jmp_buf scheduler{};
    unsigned threads = 0, running = 0;
    const std::function<void()>* body = nullptr;
    SharedMemory shared;
    std::string fault;  ///< the rule that a fiber has broken

    Fiber& fiber() { return fibers[running]; }
};

Block& block() {
    static Block one;
    return one;
}

void require(bool holds, const std::string& rule) {
    if (!holds) throw std::logic_error("CUDA emulator: " + rule);
}

/// Goes on at `to`, and returns when something goes on at `from`. swapcontext would ask the kernel twice.
void go_on(jmp_buf& to, jmp_buf& from) {
    if (_setjmp(from) == 0) _longjmp(to, 1);
}

void fiber_main() {
    for (Fiber& self = block().fiber();; self.state = State::done) {
        self.awaits_block = true;
        go_on(block().scheduler, self.place);
        self.awaits_block = false;
        (*block().body)();
        if (!self.has_waited) block().fault = "a thread that did not wait for the kernel before";
    }
}

/// Checks the end of a phase: warps of a warpgroup have begun as many matmuls as each other, and at the end of a block none is
/// open.
void check_matmuls(bool is_end);

/// Sets the running fiber's state and switches to the scheduler. Returns when the fiber has been made runnable again.
void wait(State state) {
    Fiber& self = block().fiber();
    self.state = state;
    go_on(block().scheduler, self.place);
}

/// Brings the fiber, if it is new or was left in the middle of a block, to the start of its loop.
void begin_loop(Fiber& fiber) {
    if (fiber.awaits_block) return;
    ucontext_t context{};
    getcontext(&context);
    context.uc_stack.ss_sp = fiber.stack.get();
    context.uc_stack.ss_size = stack_bytes;
    makecontext(&context, fiber_main, 0);
    if (_setjmp(block().scheduler) == 0) setcontext(&context);
}

void start_fibers() {
    for (unsigned t = 0; t < block().threads; ++t) {
        block().fibers[t].copies.clear();
        block().fibers[t].matmuls = {};
        block().fibers[t].has_waited = false;
        block().running = t;
        begin_loop(block().fiber());
        block().fiber().state = State::runnable;
    }
    for (Exchange& warp : block().warps) warp.arrived = 0;
}

void resume(unsigned thread) {
    block().running = thread;
    threadIdx = dim3(thread);
    go_on(block().fiber().place, block().scheduler);
    if (const std::string fault = std::exchange(block().fault, {}); !fault.empty()) require(false, fault);
}

/// Runs the warp's lanes until each waits for the block or has ended.
void run_warp(unsigned warp, const std::vector<unsigned>& lanes) {
    const auto state_of = [&](unsigned lane) -> State& { return block().fibers[warp * warp_lanes + lane].state; };
    for (bool progress = true; progress;) {
        progress = false;
        for (const unsigned lane : lanes)
            if (state_of(lane) == State::runnable) {
                resume(warp * warp_lanes + lane);
                progress = true;
            }
    }
    for (const unsigned lane : lanes)
        require(state_of(lane) != State::waits_for_warp,
                "lanes of a warp wait in " + block().warps[warp].kind + " for lanes that never arrive");
}

std::vector<unsigned> shuffled(unsigned count, std::mt19937_64& random) {
    std::vector<unsigned> order(count);
    std::iota(order.begin(), order.end(), 0U);
    std::shuffle(order.begin(), order.end(), random);
    return order;
}

/// If all threads wait at a barrier, makes them runnable and returns true. Returns false if all have ended.
/// @throws std::logic_error if some threads wait and others have ended
bool pass_barrier() {
    const auto end = block().fibers.begin() + block().threads;
    const auto waiting = std::count_if(block().fibers.begin(), end, [](const Fiber& f) { return f.state != State::done; });
    if (waiting == 0) return false;
    require(waiting == static_cast<std::ptrdiff_t>(block().threads), "threads wait in __syncthreads for others that have ended");
    for (auto fiber = block().fibers.begin(); fiber != end; ++fiber) fiber->state = State::runnable;
    return true;
}

void run_block(std::mt19937_64& random) {
    block().shared.fill_with_nans();  // also when read as bf16
    start_fibers();
    do {
        const auto lanes = shuffled(warp_lanes, random);
        for (const unsigned warp : shuffled(block().threads / warp_lanes, random)) run_warp(warp, lanes);
        check_matmuls(/*is_end=*/false);
    } while (pass_barrier());
    check_matmuls(/*is_end=*/true);
}

}  // namespace

void run_grid(dim3 grid, dim3 threads, std::size_t shared_bytes, const std::function<void()>& body) {
    require(threads.x % warp_lanes == 0 && threads.x > 0 && threads.x <= largest_block && threads.y == 1 && threads.z == 1,
            "a block must have one dimension of whole warps, at most 1024 threads");
    require(grid.x > 0 && grid.y > 0 && grid.y <= 65535 && grid.z == 1,
            "a grid must have at least one block and at most two dimensions");
    gridDim = grid;
    blockDim = threads;
    block().threads = threads.x;
    block().body = &body;
    block().shared.resize(shared_bytes);
    std::mt19937_64 random(schedule_seed);
    for (const unsigned b : shuffled(grid.x * grid.y, random)) {
        blockIdx = dim3(b % grid.x, b / grid.x);
        run_block(random);
        ++blocks_run;
    }
}

void wait_for_kernel_before() { block().fiber().has_waited = true; }
void wait_for_block() { wait(State::waits_for_block); }

namespace {

/// Publishes `mine` to the warp, and returns the exchange when all lanes have arrived.
const Exchange& meet_in_warp(unsigned mask, const char* kind, std::uint64_t mine) {
    const unsigned first = block().running / warp_lanes * warp_lanes, lane = block().running % warp_lanes;
    Exchange& warp = block().warps[block().running / warp_lanes];
    if (mask != 0xFFFFFFFF || (warp.arrived > 0 && warp.kind != kind)) {
        warp.kind += std::string(" and ") + kind + " with different masks or kinds";
        wait(State::waits_for_warp);  // forever, so that the scheduler throws: no exception may leave a fiber
    }
    warp.kind = kind;
    warp.given[lane] = mine;
    if (++warp.arrived < warp_lanes) {
        wait(State::waits_for_warp);
        return warp;
    }
    warp.arrived = 0;
    warp.published = warp.given;
    for (unsigned l = 0; l < warp_lanes; ++l) block().fibers[first + l].state = State::runnable;
    return warp;
}

}  // namespace

std::uint64_t exchange_in_warp(unsigned mask, const char* kind, std::uint64_t mine, unsigned from) {
    return meet_in_warp(mask, kind, mine).published[from];
}

unsigned ballot_in_warp(unsigned mask, bool mine) {
    const Exchange& warp = meet_in_warp(mask, "__ballot_sync", mine ? 1 : 0);
    unsigned bits = 0;
    for (unsigned l = 0; l < warp_lanes; ++l) bits |= static_cast<unsigned>(warp.published[l]) << l;
    return bits;
}

void wait_for_warp() { meet_in_warp(0xFFFFFFFF, "__syncwarp", 0); }

void copy_async(void* to, const void* from, std::size_t bytes) { block().fiber().copies.push_back({to, from, bytes}); }

void wait_for_copies() {
    for (const Copy& copy : block().fiber().copies)
        if (copy.from != nullptr) std::memcpy(copy.to, copy.from, copy.bytes);
        else std::memset(copy.to, 0, copy.bytes);
    if (!block().fiber().copies.empty()) block().fiber().matmuls.has_unshown_copies = true;
    block().fiber().copies.clear();
}

void* dynamic_shared_memory() { return block().shared.begin(); }

namespace {

/// Returns the pointers of all lanes. They are valid until this lane's next exchange.
template <class T>
std::array<const T*, warp_lanes> pointers_in_warp(const char* kind, const T* mine) {
    const Exchange& warp = meet_in_warp(0xFFFFFFFF, kind, reinterpret_cast<std::uintptr_t>(mine));
    std::array<const T*, warp_lanes> all;
    for (unsigned l = 0; l < warp_lanes; ++l) all[l] = reinterpret_cast<const T*>(warp.published[l]);
    return all;
}

float of_bf16(unsigned bits) { return std::bit_cast<float>(bits << 16); }
/// Returns half `which` of a register as fp32.
float half_of(unsigned pair, unsigned which) { return of_bf16(which == 0 ? pair & 0xFFFF : pair >> 16); }

}  // namespace

void multiply_add(float (&sums)[4], const unsigned (&a)[4], const unsigned* b) {
    struct Operands {
        unsigned a[4], b[2];
    };
    const Operands mine{{a[0], a[1], a[2], a[3]}, {b[0], b[1]}};
    const auto all = pointers_in_warp("mma", &mine);
    const unsigned lane = block().running % warp_lanes, g = lane / 4, c = lane % 4;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned row = g + 8 * (i / 2), column = 2 * c + i % 2;
        for (unsigned k = 0; k < 16; ++k) {
            const unsigned register_a = row / 8 + 2 * (k / 8), register_b = k / 8, of_pair = k % 8 / 2;
            sums[i] += half_of(all[row % 8 * 4 + of_pair]->a[register_a], k % 2) *
                       half_of(all[column * 4 + of_pair]->b[register_b], k % 2);
        }
    }
    wait_for_warp();
}

void load_tiles(const std::uint16_t* row, bool transposed, unsigned (&tiles)[4]) {
    const auto rows = pointers_in_warp("ldmatrix", row);
    const unsigned lane = block().running % warp_lanes, g = lane / 4, c = lane % 4;
    for (unsigned t = 0; t < 4; ++t)
        tiles[t] = transposed ? rows[8 * t + 2 * c][g] | unsigned{rows[8 * t + 2 * c + 1][g]} << 16
                              : rows[8 * t + g][2 * c] | unsigned{rows[8 * t + g][2 * c + 1]} << 16;
    wait_for_warp();
}

namespace {

/// Ends the kernel: no exception may leave a fiber.
void refuse(const std::string& rule) {
    block().fault = rule;
    wait(State::waits_for_warp);
}

/// A matrix of 64 columns of bf16 in shared memory as the PTX ISA's matrix descriptor gives it, with 128-byte swizzle.
struct DescribedMatrix {
    std::size_t start, between_groups;

    explicit DescribedMatrix(std::uint64_t descriptor)
        : start((descriptor & 0x3FFF) << 4), between_groups((descriptor >> 32 & 0x3FFF) << 4) {
        if (descriptor >> 62 != 1 || (descriptor >> 49 & 7) != 0)
            refuse("a matrix descriptor without 128-byte swizzle, or with a base offset");
        if (start % 1024 >= 128 || start % 32 != 0)
            refuse("a matrix whose pattern of 128-byte swizzle does not begin at a multiple of 1024 bytes");
    }

    /// Element (row, column), where rows have 128 bytes and groups of eight rows are between_groups apart.
    float at(std::size_t row, std::size_t column) const {
        const std::size_t plain = start + row / 8 * between_groups + row % 8 * 128 + column * 2,
                          address = plain ^ (plain >> 7 & 7) << 4;
        if (!block().shared.contains(address, 2)) refuse("a matmul reads outside of shared memory");
        return of_bf16(block().shared.bf16_at(address));
    }
};

/// Computes a lane's sums of one matmul. @param lanes  the same matmul as all lanes of its warp have begun it
void multiply(const std::array<const GroupMatmul*, warp_lanes>& lanes, unsigned warp_of_group, unsigned lane, LaneSums& sums) {
    constexpr std::size_t steps = 16;
    const GroupMatmul& mine = *lanes[lane];
    const DescribedMatrix b(mine.descriptor_b);
    for (std::size_t i = 0; i < sums_of_lane; ++i) {
        const std::size_t row = lane / 4 + 8 * (i % 4 / 2), column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        float sum = mine.accumulate ? sums[i] : 0;
        for (std::size_t k = 0; k < steps; ++k) {
            const float of_a = mine.has_registers ? half_of(lanes[row % 8 * 4 + k % 8 / 2]->a[row / 8 + 2 * (k / 8)], k % 2)
                                                  : DescribedMatrix(mine.descriptor_a).at(16 * warp_of_group + row, k);
            sum += of_a * (mine.transposed_b ? b.at(k, column) : b.at(column, k));
        }
        sums[i] = sum;
    }
}

}  // namespace

unsigned shared_address(const void* at) { return static_cast<unsigned>(block().shared.address_of(at)); }

void show_to_matmuls() { block().fiber().matmuls.has_unshown_copies = false; }

void begin_matmuls() {
    block().fiber().matmuls.is_open = true;
    meet_in_warp(0xFFFFFFFF, "wgmma.fence", 0);
}

void multiply_in_group(float* sums, const unsigned* a, std::uint64_t descriptor_a, std::uint64_t descriptor_b, bool transposed_b,
                       bool accumulate) {
    GroupMatmuls& mine = block().fiber().matmuls;
    if (!mine.is_open) refuse("a matmul of a warpgroup without a fence before it");
    for (unsigned t = 0; t < block().threads; ++t)
        if (block().fibers[t].matmuls.has_unshown_copies) refuse("a matmul after copies without fence.proxy.async");
    if (!mine.sums.contains(sums)) {
        std::copy_n(sums, sums_of_lane, mine.sums[sums].begin());
        std::fill_n(sums, sums_of_lane, of_bf16(0x7FC0));
    }
    GroupMatmul& one =
        mine.begun.emplace_back(GroupMatmul{sums, a != nullptr, transposed_b, accumulate, {}, descriptor_a, descriptor_b});
    if (a != nullptr) std::copy_n(a, one.a.size(), one.a.begin());
    mine.is_committed = false;
    ++mine.count;
    meet_in_warp(0xFFFFFFFF, "wgmma.mma_async", 0);
}

void commit_matmuls() {
    block().fiber().matmuls.is_committed = true;
    block().fiber().matmuls.is_open = false;
    meet_in_warp(0xFFFFFFFF, "wgmma.commit_group", 0);
}

void wait_for_matmuls() {
    GroupMatmuls& mine = block().fiber().matmuls;
    if (!mine.is_committed) refuse("a wait for matmuls that were not committed");
    const auto all = pointers_in_warp("wgmma.wait_group", &mine);
    const unsigned lane = block().running % warp_lanes;
    for (std::size_t i = 0; i < mine.begun.size(); ++i) {
        std::array<const GroupMatmul*, warp_lanes> lanes;
        for (unsigned l = 0; l < warp_lanes; ++l) lanes[l] = &all[l]->begun[i];
        multiply(lanes, block().running / warp_lanes % 4, lane, mine.sums[mine.begun[i].sums]);
    }
    wait_for_warp();
    for (const auto& [to, sums] : mine.sums) std::copy(sums.begin(), sums.end(), to);
    mine.begun.clear();
    mine.sums.clear();
}

namespace {

void check_matmuls(bool is_end) {
    constexpr unsigned group = 128;
    for (unsigned t = 0; t < block().threads; ++t) {
        const GroupMatmuls& mine = block().fibers[t].matmuls;
        require(mine.count == block().fibers[t / group * group].matmuls.count,
                "warps of a warpgroup that do not begin the same matmuls");
        require(!is_end || mine.begun.empty(), "a thread that ends before its matmuls");
    }
}

}  // namespace

}  // namespace cuda_emulator

namespace {

cudaError_t last_error = cudaSuccess;

/// Returns the error; if it is one, it is the last error from now on.
cudaError_t report(cudaError_t error) {
    if (error != cudaSuccess) last_error = error;
    return error;
}

/// The dynamic shared memory that kernels have asked for.
std::map<const void*, std::size_t>& allowed_bytes() {
    static std::map<const void*, std::size_t> by_kernel;
    return by_kernel;
}

}  // namespace

cudaError_t cuda_emulator::check_launch(const void* kernel, std::size_t shared_bytes) {
    if (launches_fail) return report(cudaErrorNoKernelImageForDevice);
    const auto asked = allowed_bytes().find(kernel);
    const std::size_t allowed = asked != allowed_bytes().end() ? asked->second : shared_bytes_unasked;
    const bool fits = shared_bytes <= allowed && shared_bytes <= static_cast<std::size_t>(shared_memory_limit);
    return report(fits ? cudaSuccess : cudaErrorInvalidValue);
}

const char* cudaGetErrorString(cudaError_t error) {
    switch (error) {
        case cudaSuccess:
            return "no error";
        case cudaErrorInvalidValue:
            return "invalid argument";
        case cudaErrorNoKernelImageForDevice:
            return "no kernel image is available for execution on the device";
    }
    return "unknown error";
}

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaGetDevice(int* device) {
    *device = 0;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
    *value = attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? cuda_emulator::shared_memory_limit
             : attribute == cudaDevAttrMultiProcessorCount        ? cuda_emulator::multiprocessors
             : attribute == cudaDevAttrComputeCapabilityMajor     ? cuda_emulator::compute_capability / 10
                                                                  : cuda_emulator::compute_capability % 10;
    return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int value) {
    if (value > cuda_emulator::shared_memory_limit) return report(cudaErrorInvalidValue);
    allowed_bytes()[kernel] = static_cast<std::size_t>(value);
    return cudaSuccess;
}
