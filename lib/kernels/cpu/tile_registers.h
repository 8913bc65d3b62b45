#pragma once
// The tile registers of a thread. Only for files that are compiled for x86-64.

#include <immintrin.h>

#include <cstdint>

#define BERTPRETRAIN_TILES __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")))
#define BERTPRETRAIN_TILES_INLINE BERTPRETRAIN_TILES static inline __attribute__((always_inline))

namespace bertpretrain::cpu {

/// The registers' shapes, as the instruction's manual lays them out: eight of 16 rows of 64 bytes.
struct alignas(64) TileShapes {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

/// The tile registers of this thread, ready while it lives; oneDNN's have other shapes, so nobody's are left behind.
class TileRegisters {
public:
    BERTPRETRAIN_TILES TileRegisters() {
        static constexpr TileShapes shapes;  // GCC 12 believes that eight bytes of it are read, and would not fill a local one
        _tile_loadconfig(&shapes);
    }
    BERTPRETRAIN_TILES ~TileRegisters() { _tile_release(); }
    TileRegisters(const TileRegisters&) = delete;
    TileRegisters& operator=(const TileRegisters&) = delete;
};

}  // namespace bertpretrain::cpu
