#include "kernels/cpu/amx/small_matmul.h"

#include <cstdlib>

#if defined(__x86_64__)
// GCC 12 warns about the deliberately undefined operands in its own intrinsics header (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <sys/syscall.h>
#include <unistd.h>

#include "core/rounding.h"
#include "kernels/cpu/amx/registers.h"
#include "kernels/cpu/head_memory.h"

namespace bertpretrain::cpu {
namespace {

/// The operands of a matmul; rows of the left matrix are `a_step` pairs apart.
struct Rows {
    const Pair* a;
    std::int64_t a_step, N, P;
    const Pair* b_PN;
    float* c_MN;
};

/// Computes `Down` x `Across` tiles (each 1 or 2) of C from (m, n) on.
template <int Down, int Across>
BERTPRETRAIN_AMX_INLINE void multiply(const Rows& rows, std::int64_t m, std::int64_t n) {
    const auto bytes = [](std::int64_t words) { return words * static_cast<std::int64_t>(sizeof(Pair)); };
    const std::int64_t a_bytes = bytes(rows.a_step), n_bytes = bytes(rows.N);
    const Pair *a = rows.a + m * rows.a_step, *b = rows.b_PN + n;
    _tile_zero(0);
    if constexpr (Across == 2) _tile_zero(1);
    if constexpr (Down == 2) _tile_zero(2);
    if constexpr (Down == 2 && Across == 2) _tile_zero(3);
    for (std::int64_t p = 0; p < rows.P; p += tile_lanes, a += tile_lanes, b += tile_lanes * rows.N) {
        _tile_loadd(4, a, a_bytes);
        _tile_loadd(6, b, n_bytes);
        _tile_dpbf16ps(0, 4, 6);
        if constexpr (Across == 2) {
            _tile_loadd(7, b + tile_lanes, n_bytes);
            _tile_dpbf16ps(1, 4, 7);
        }
        if constexpr (Down == 2) {
            _tile_loadd(5, a + tile_lanes * rows.a_step, a_bytes);
            _tile_dpbf16ps(2, 5, 6);
        }
        if constexpr (Down == 2 && Across == 2) _tile_dpbf16ps(3, 5, 7);
    }
    float *const c = rows.c_MN + m * rows.N + n, *const below = c + tile_lanes * rows.N;
    _tile_stored(0, c, n_bytes);
    if constexpr (Across == 2) _tile_stored(1, c + tile_lanes, n_bytes);
    if constexpr (Down == 2) _tile_stored(2, below, n_bytes);
    if constexpr (Down == 2 && Across == 2) _tile_stored(3, below + tile_lanes, n_bytes);
}

template <int Down>
BERTPRETRAIN_AMX_INLINE void multiply_rows(const Rows& rows, std::int64_t m) {
    std::int64_t n = 0;
    for (; n + 2 * tile_lanes <= rows.N; n += 2 * tile_lanes) multiply<Down, 2>(rows, m, n);
    if (n < rows.N) multiply<Down, 1>(rows, m, n);
}

BERTPRETRAIN_AMX void multiply_all(const Rows& rows, std::int64_t M) {
    std::int64_t m = 0;
    for (; m + 2 * tile_lanes <= M; m += 2 * tile_lanes) multiply_rows<2>(rows, m);
    for (; m + tile_lanes <= M; m += tile_lanes) multiply_rows<1>(rows, m);
    if (m == M) return;
    AmxRegisters::reshape(M - m);
    multiply_rows<1>(rows, m);
    AmxRegisters::reshape(tile_lanes);
}

bool granted() {
    constexpr int ask_for_feature = 0x1023, tile_data = 18;  // arch/x86/include/uapi/asm/prctl.h
    return ::syscall(SYS_arch_prctl, ask_for_feature, tile_data) == 0;
}

}  // namespace

bool has_amx() {
    static const bool has = instruction_set() >= InstructionSet::amx && granted();
    return has;
}

AmxSmallMatmuls::AmxSmallMatmuls() {
    if (has_amx()) AmxRegisters::reshape(tile_lanes);
}

AmxSmallMatmuls::~AmxSmallMatmuls() {
    if (has_amx()) AmxRegisters::release();
}

void amx_small_matmul(std::int64_t M, std::int64_t N, std::int64_t P, const PairedRows& a, const Pair* b_PN, float* c_MN) {
    const std::int64_t turned = rounded_up(M, tile_lanes);
    HeadMemory<Pair> turned_MP;
    Rows rows{static_cast<const Pair*>(a.at), a.row_step, N, P, b_PN, c_MN};
    if (a.pair_step != 1) {
        turned_MP = head_memory<Pair>(turned * P);
        transpose_pairs(a.at, a.pair_step, P, turned, P, turned_MP.get(), P);
        rows.a = turned_MP.get();
        rows.a_step = P;
    }
    multiply_all(rows, M);
}

}  // namespace bertpretrain::cpu

#else

namespace bertpretrain::cpu {

bool has_amx() { return false; }
AmxSmallMatmuls::AmxSmallMatmuls() = default;
AmxSmallMatmuls::~AmxSmallMatmuls() = default;
void amx_small_matmul(std::int64_t, std::int64_t, std::int64_t, const PairedRows&, const Pair*, float*) {
    std::abort();  // unreachable: has_amx() is false
}

}  // namespace bertpretrain::cpu

#endif
