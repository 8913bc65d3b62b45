#pragma once
// The tile registers of a thread. Only for files that are compiled for x86-64.

#include <immintrin.h>

#include <array>
#include <cstdint>

#define BERTPRETRAIN_TILES __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")))
#define BERTPRETRAIN_TILES_INLINE BERTPRETRAIN_TILES static inline __attribute__((always_inline))

namespace bertpretrain::cpu {

/// The registers' shapes, as the instruction's manual lays them out: eight of up to 16 rows of 64 bytes.
struct alignas(64) TileShapes {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

/// By the rows of the left operand and of C (registers 0, 1 and 4), from 0 to 16; the others have all.
constexpr auto shapes_of_rows = [] {
    std::array<TileShapes, 17> shapes;
    for (std::uint8_t rows = 1; rows < shapes.size(); ++rows)
        for (const int tile : {0, 1, 4}) shapes[rows].rows[tile] = rows;
    return shapes;
}();

/// The tile registers of this thread, ready while it lives; oneDNN's have other shapes, so nobody's are left behind.
class TileRegisters {
public:
    BERTPRETRAIN_TILES TileRegisters() { reshape(16); }
    BERTPRETRAIN_TILES ~TileRegisters() { _tile_release(); }
    TileRegisters(const TileRegisters&) = delete;
    TileRegisters& operator=(const TileRegisters&) = delete;

    /// Leaves `rows` rows, 1 to 16, to registers 0, 1 and 4.
    BERTPRETRAIN_TILES void reshape(std::int64_t rows) const {
        // GCC 12 believes that eight bytes of the shapes are read, and would not fill local ones.
        _tile_loadconfig(&shapes_of_rows[static_cast<std::size_t>(rows)]);
    }
};

}  // namespace bertpretrain::cpu
