#pragma once
// The tile registers of a thread. Only for files that are compiled for x86-64.

#include <immintrin.h>

#include <array>
#include <cstdint>

#define BERTPRETRAIN_AMX __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16")))
#define BERTPRETRAIN_AMX_INLINE BERTPRETRAIN_AMX static inline __attribute__((always_inline))

namespace bertpretrain::cpu {

/// The registers' shapes, as the instruction's manual lays them out: eight of up to 16 rows of 64 bytes.
struct alignas(64) AmxShapes {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

/// By the rows of the left operand and of C (registers 0, 1 and 4), from 0 to 16; the others have all.
constexpr auto shapes_of_rows = [] {
    std::array<AmxShapes, 17> shapes;
    for (std::uint8_t rows = 1; rows < shapes.size(); ++rows)
        for (const int tile : {0, 1, 4}) shapes[rows].rows[tile] = rows;
    return shapes;
}();

/// The tile registers of this thread, ready while it lives; oneDNN's have other shapes, so nobody's are left behind.
class AmxRegisters {
public:
    BERTPRETRAIN_AMX AmxRegisters() { reshape(16); }
    BERTPRETRAIN_AMX ~AmxRegisters() { _tile_release(); }
    AmxRegisters(const AmxRegisters&) = delete;
    AmxRegisters& operator=(const AmxRegisters&) = delete;

    /// Leaves `rows` rows, 1 to 16, to registers 0, 1 and 4.
    BERTPRETRAIN_AMX void reshape(std::int64_t rows) const {
        // GCC 12 believes that eight bytes of the shapes are read, and would not fill local ones.
        _tile_loadconfig(&shapes_of_rows[static_cast<std::size_t>(rows)]);
    }
};

}  // namespace bertpretrain::cpu
