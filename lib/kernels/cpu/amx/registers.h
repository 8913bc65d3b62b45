#pragma once
// The AMX tile registers of a thread. Only for files compiled for x86-64.

#include <immintrin.h>

#include <array>
#include <cstdint>

#define BERTPRETRAIN_AMX __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,amx-tile,amx-bf16,prfchw")))
#define BERTPRETRAIN_AMX_INLINE BERTPRETRAIN_AMX static inline __attribute__((always_inline))

namespace bertpretrain::cpu {

/// The tile configuration in the layout that the instruction's manual defines: eight registers of up to 16 rows of 64 bytes.
struct alignas(64) AmxShapes {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

/// Indexed by the number of rows (0 to 16) of the left operand and C (registers 0, 1 and 4); the other registers have 16 rows.
constexpr auto shapes_of_rows = [] {
    std::array<AmxShapes, 17> shapes;
    for (std::uint8_t rows = 1; rows < shapes.size(); ++rows)
        for (const int tile : {0, 1, 4}) shapes[rows].rows[tile] = rows;
    return shapes;
}();

/// Configures this thread's tile registers and releases them when destroyed, because oneDNN uses other shapes.
class AmxRegisters {
public:
    AmxRegisters() { reshape(16); }
    ~AmxRegisters() { release(); }
    AmxRegisters(const AmxRegisters&) = delete;
    AmxRegisters& operator=(const AmxRegisters&) = delete;

    /// Sets the number of rows (1 to 16) of registers 0, 1 and 4.
    BERTPRETRAIN_AMX static void reshape(std::int64_t rows) {
        // GCC 12 assumes that only eight bytes of the configuration are read, and would not initialize a local one.
        _tile_loadconfig(&shapes_of_rows[static_cast<std::size_t>(rows)]);
    }
    BERTPRETRAIN_AMX static void release() { _tile_release(); }
};

}  // namespace bertpretrain::cpu
