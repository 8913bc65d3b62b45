#pragma once
// Writes finished 32 x 32 elements of C to memory, a few rows at a time, between the tile multiplications of the next elements:
// the vector units convert and store while the tile unit multiplies. Written all at once, the rows would fill the buffers of
// stores that miss the caches, and the multiplications would wait for them. Only for files compiled for x86-64.

#include <algorithm>

#include "kernels/cpu/amx/packing.h"
#include "kernels/cpu/amx/registers.h"

namespace bertpretrain::cpu {

/// The output C_MN, contiguous; one of the pointers is null.
struct AmxOutput {
    float* fp32;
    Bf16* rounded;
    bool add;  ///< to the fp32 one
    std::int64_t M, N;
};

/// Elements of a tile of C, and of the four tiles that are computed at a time: rows 0 to 15 in columns 0 to 15 and 16 to 31, then
/// rows 16 to 31.
constexpr std::int64_t c_tile_elements = 16 * 16, c_elements = 4 * c_tile_elements;

class AmxDrain {
public:
    explicit AmxDrain(const AmxOutput& output) : output_(output) {}

    /// Makes the sums the next ones to write. They must stay unchanged until finish() or the next begin(), which both write what
    /// is left.
    /// @param sums c_elements finished sums, aligned to 64 bytes @param row, column of their first element in C
    BERTPRETRAIN_AMX void begin(const float* sums, std::int64_t row, std::int64_t column) {
        finish();
        sums_ = sums;
        at_ = row * output_.N + column;
        rows_ = std::min(panel_rows, output_.M - row);
        const std::int64_t columns = std::min(panel_rows, output_.N - column);
        left_ = first(columns);
        right_ = first(columns - 16);
        fills_lines_ = output_.fp32 != nullptr && columns == panel_rows && is_aligned();
        next_ = 0;
    }

    BERTPRETRAIN_AMX void finish() { write_rows(rows_ - next_); }

    /// Writes up to `count` rows that are left.
    BERTPRETRAIN_AMX __attribute__((always_inline)) void write_rows(std::int64_t count) {
        for (const std::int64_t end = std::min(next_ + count, rows_); next_ < end; ++next_, at_ += output_.N) {
            const float* const from = sums_ + next_ / 16 * 2 * c_tile_elements + next_ % 16 * 16;
            write_row(_mm512_load_ps(from), _mm512_load_ps(from + c_tile_elements));
        }
    }

private:
    static __mmask16 first(std::int64_t columns) {
        return static_cast<__mmask16>((std::uint32_t{1} << std::clamp<std::int64_t>(columns, 0, 16)) - 1);
    }

    /// Whether each row of the elements at `at_` of an fp32 C begins at a cache line.
    bool is_aligned() const {
        constexpr std::uintptr_t line_bytes = 64;
        return reinterpret_cast<std::uintptr_t>(output_.fp32 + at_) % line_bytes == 0 && output_.N % 16 == 0;
    }

    /// Requests the lines of this row in the next elements, which usually are those to the right: stores are done in order, and
    /// one that misses the caches would hold up the tile stores that follow it.
    template <class Number>
    BERTPRETRAIN_AMX __attribute__((always_inline)) static void request_next(Number* row) {
        constexpr std::int64_t line_elements = 64 / sizeof(Number);
        for (std::int64_t i = 0; i < panel_rows; i += line_elements) __builtin_prefetch(row + panel_rows + i, 1);
    }

    /// Writes full cache lines of fp32, which are gradients, past the caches, so that C is not first read into them: by the time
    /// C is read, much more has been written. A bf16 C stays in the caches, because the next operation reads it.
    BERTPRETRAIN_AMX __attribute__((always_inline)) void write_row(__m512 left, __m512 right) const {
        if (output_.rounded != nullptr) {
            const auto columns = static_cast<__mmask32>(left_ | static_cast<__mmask32>(right_) << 16);
            request_next(output_.rounded + at_);
            _mm512_mask_storeu_epi16(output_.rounded + at_, columns, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(right, left)));
            return;
        }
        float* const to = output_.fp32 + at_;
        if (output_.add) {
            request_next(to);
            _mm512_mask_storeu_ps(to, left_, _mm512_add_ps(left, _mm512_maskz_loadu_ps(left_, to)));
            _mm512_mask_storeu_ps(to + 16, right_, _mm512_add_ps(right, _mm512_maskz_loadu_ps(right_, to + 16)));
        } else if (fills_lines_) {
            _mm512_stream_ps(to, left);
            _mm512_stream_ps(to + 16, right);
        } else {
            _mm512_mask_storeu_ps(to, left_, left);
            _mm512_mask_storeu_ps(to + 16, right_, right);
        }
    }

    AmxOutput output_;
    const float* sums_ = nullptr;
    std::int64_t at_ = 0, rows_ = 0, next_ = 0;  ///< the next row's first element in C; rows in all; the next row
    __mmask16 left_ = 0, right_ = 0;             ///< which of a row's columns are in C
    bool fills_lines_ = false;                   ///< whether a row's columns are whole cache lines of an fp32 C
};

}  // namespace bertpretrain::cpu
