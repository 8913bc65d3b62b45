#include "instruction_roof.h"

#include <algorithm>
#include <barrier>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "core/clock.h"
#include "kernels/cpu/operation_threads.h"

#if defined(__x86_64__)
// GCC 12 warns of deliberately undefined operands in its own header (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bertpretrain::benchmark {
namespace {

// Twelve independent sums hide the latency of two units. KEEP prevents the compiler from removing the loops' results.
#define KEEP(value) asm volatile("" : "+v"(value))
constexpr int sums = 12;
constexpr std::int64_t rounds = 2'000'000;

__attribute__((target("avx2,fma"))) void multiply_avx2() {
    __m256 sum[sums], a = _mm256_set1_ps(1e-9F), b = _mm256_set1_ps(0.5F);
    for (auto& s : sum) s = _mm256_setzero_ps();
    for (std::int64_t i = 0; i < rounds; ++i)
        for (auto& s : sum) {
            s = _mm256_fmadd_ps(a, b, s);
            KEEP(s);
        }
}

__attribute__((target("avx512f"))) void multiply_avx512() {
    __m512 sum[sums], a = _mm512_set1_ps(1e-9F), b = _mm512_set1_ps(0.5F);
    for (auto& s : sum) s = _mm512_setzero_ps();
    for (std::int64_t i = 0; i < rounds; ++i)
        for (auto& s : sum) {
            s = _mm512_fmadd_ps(a, b, s);
            KEEP(s);
        }
}

__attribute__((target("avx512f,avx512bf16"))) void multiply_bf16() {
    __m512 sum[sums];
    for (auto& s : sum) s = _mm512_setzero_ps();
    const auto a = reinterpret_cast<__m512bh>(_mm512_set1_epi32(0x3F013F01)), b = a;
    for (std::int64_t i = 0; i < rounds; ++i)
        for (auto& s : sum) {
            s = _mm512_dpbf16_ps(s, a, b);
            KEEP(s);
        }
}

struct alignas(64) TileConfig {
    std::uint8_t palette = 1, start_row = 0, reserved[14]{};
    std::uint16_t row_bytes[16]{};
    std::uint8_t rows[16]{};
};
constexpr std::int64_t tile_rounds = 400'000;
constexpr double flops_per_tile_round = 4.0 * 2 * 16 * 16 * 32;

alignas(64) const std::uint16_t tile_operand[16 * 32]{};

__attribute__((target("amx-tile,amx-bf16"))) void configure_tiles() {
    TileConfig config;
    for (int t = 0; t < 8; ++t) {
        config.row_bytes[t] = 64;
        config.rows[t] = 16;
    }
    asm volatile("ldtilecfg %0" ::"m"(config));
}

__attribute__((target("amx-tile,amx-bf16"))) void multiply_amx() {
    configure_tiles();
    asm volatile("tileloadd (%0,%1,1), %%tmm4\n\ttileloadd (%0,%1,1), %%tmm5" ::"r"(tile_operand), "r"(std::int64_t{64}) : "memory");
    for (std::int64_t i = 0; i < tile_rounds; ++i)
        asm volatile(
            "tdpbf16ps %tmm5, %tmm4, %tmm0\n\ttdpbf16ps %tmm5, %tmm4, %tmm1\n\t"
            "tdpbf16ps %tmm5, %tmm4, %tmm2\n\ttdpbf16ps %tmm5, %tmm4, %tmm3");
    asm volatile("tilerelease");
}

/// A load from the L1 cache per multiplication: no matmul with eight tile registers needs fewer.
__attribute__((target("amx-tile,amx-bf16"))) void load_and_multiply(std::int64_t times) {
    configure_tiles();
    for (std::int64_t i = 0; i < times; ++i)
        asm volatile(
            "tileloadd (%0,%1,1), %%tmm6\n\ttileloadd (%0,%1,1), %%tmm4\n\ttdpbf16ps %%tmm6, %%tmm4, %%tmm0\n\t"
            "tileloadd (%0,%1,1), %%tmm5\n\ttdpbf16ps %%tmm6, %%tmm5, %%tmm2\n\t"
            "tileloadd (%0,%1,1), %%tmm7\n\ttdpbf16ps %%tmm7, %%tmm4, %%tmm1\n\ttdpbf16ps %%tmm7, %%tmm5, %%tmm3" ::"r"(tile_operand),
            "r"(std::int64_t{64})
            : "memory");
    asm volatile("tilerelease");
}

void load_and_multiply_amx() { load_and_multiply(tile_rounds); }

/// Returns whether this process can use AMX with bf16. Requests the tile state from Linux, which AMX needs.
bool may_use_amx() {
    constexpr int ask_for_state = 0x1023, tile_data = 18;
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned amx_bf16 = 1U << 22;
    const bool has = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & amx_bf16) != 0;
    return has && ::syscall(SYS_arch_prctl, ask_for_state, tile_data) == 0;
}

/// Returns the rates of some tries, in ascending order.
std::vector<double> rates(int threads, double flops, void (*work)()) {
    constexpr std::size_t tries = 5;
    std::vector<double> all;
    while (all.size() < tries) {
        std::barrier ready(threads);
        std::vector<double> seconds(static_cast<std::size_t>(threads));
        std::vector<std::jthread> team;
        for (double& own : seconds)
            team.emplace_back([&] {
                ready.arrive_and_wait();
                const double begin = seconds_now();
                work();
                own = seconds_now() - begin;
            });
        team.clear();
        all.push_back(flops * threads / *std::max_element(seconds.begin(), seconds.end()));
    }
    std::sort(all.begin(), all.end());
    return all;
}

double best_rate(int threads, double flops, void (*work)()) { return rates(threads, flops, work).back(); }

double median_rate(int threads, double flops, void (*work)()) {
    const std::vector<double> all = rates(threads, flops, work);
    return all[all.size() / 2];
}

}  // namespace

std::vector<InstructionRoof> instruction_roofs(int threads) {
    __builtin_cpu_init();
    constexpr double done = static_cast<double>(rounds) * sums;
    std::vector<InstructionRoof> roofs{{"fp32 AVX2", 0}, {"fp32 AVX-512", 0}, {"bf16 AVX-512", 0}, {"bf16 AMX", 0}, {"bf16 AMX, with loads", 0}};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        roofs[0].flops_per_second = best_rate(threads, done * 2 * 8, multiply_avx2);
    if (__builtin_cpu_supports("avx512f")) roofs[1].flops_per_second = best_rate(threads, done * 2 * 16, multiply_avx512);
    if (__builtin_cpu_supports("avx512bf16")) roofs[2].flops_per_second = best_rate(threads, done * 2 * 32, multiply_bf16);
    if (may_use_amx()) {
        constexpr double tiles_done = static_cast<double>(tile_rounds) * flops_per_tile_round;
        roofs[3].flops_per_second = best_rate(threads, tiles_done, multiply_amx);
        roofs[4].flops_per_second = median_rate(threads, tiles_done, load_and_multiply_amx);
    }
    return roofs;
}

double tile_rate_now() {
    static const bool has_amx = may_use_amx();
    if (!has_amx) return 0;
    constexpr std::int64_t short_rounds = 2'000;
    const std::int64_t threads = cpu::operation_threads();
    std::vector<double> seconds(static_cast<std::size_t>(threads));
    cpu::run_operation(threads, [&](std::size_t thread) {
        const double begin = seconds_now();
        load_and_multiply(short_rounds);
        seconds[thread] = seconds_now() - begin;
    });
    const double slowest = *std::max_element(seconds.begin(), seconds.end());
    return static_cast<double>(threads * short_rounds) * flops_per_tile_round / slowest;
}

}  // namespace bertpretrain::benchmark
#else
namespace bertpretrain::benchmark {
std::vector<InstructionRoof> instruction_roofs(int) { return {}; }
double tile_rate_now() { return 0; }
}  // namespace bertpretrain::benchmark
#endif
