#pragma once
// Rows shared between threads in chunks of fixed size, so that column sums do not depend on the number of threads.

#include <algorithm>
#include <cstdint>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>

#include "kernels/cpu/vector_math.h"

namespace bertpretrain::cpu {

constexpr std::int64_t rows_per_chunk = 32;
inline std::int64_t row_chunks(std::int64_t rows) { return (rows + rows_per_chunk - 1) / rows_per_chunk; }

/// body(chunk, first row, end row) for all chunks, in parallel.
template <class Body>
void for_row_chunks(std::int64_t rows, const Body& body) {
    at::parallel_for(0, row_chunks(rows), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t chunk = begin; chunk < end; ++chunk)
            body(chunk, chunk * rows_per_chunk, std::min(rows, (chunk + 1) * rows_per_chunk));
    });
}

/// Brings elements that will soon be read into the second-level cache, and nothing for null; they need not exist. For loops too
/// long for the processor to see the next reads coming by itself.
template <class T>
BERTPRETRAIN_INLINE void fetch(const T* at, std::int64_t elements) {
    constexpr auto line = static_cast<std::int64_t>(64 / sizeof(T));
    if (at != nullptr)
        for (std::int64_t i = 0; i < elements; i += line) __builtin_prefetch(at + i, 0, 2);
}

constexpr std::int64_t stretch = 512;

/// body(first element, elements) for a row in stretches, before each of which `ahead` is called with the first element of the
/// stretch after next (in the next rows, behind the end of this one).
template <class Ahead, class Body>
void for_stretches(std::int64_t width, const Ahead& ahead, const Body& body) {
    for (std::int64_t from = 0; from < width; from += stretch) {
        ahead(from + 2 * stretch);
        body(from, std::min(stretch, width - from));
    }
}

/// One row of sums per chunk, added up in chunk order.
class ColumnSums {
public:
    ColumnSums(std::int64_t rows, std::int64_t columns) : chunks_C(at::zeros({row_chunks(rows), columns}, at::kFloat)) {}
    float* chunk(std::int64_t c) { return chunks_C.data_ptr<float>() + c * chunks_C.size(1); }
    /// total[column] += sum over chunks, for columns [0, columns).
    void add_to(float* total) const {
        const std::int64_t chunks = chunks_C.size(0), columns = chunks_C.size(1);
        const float* sums = chunks_C.data_ptr<float>();
        at::parallel_for(0, columns, 1024, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t c = 0; c < chunks; ++c)
                for (std::int64_t column = begin; column < end; ++column) total[column] += sums[c * columns + column];
        });
    }

private:
    at::Tensor chunks_C;
};

/// A compute_dtype tensor's numbers as the kernels see them.
template <class W>
W* compute_data(const at::Tensor& tensor) {
    return tensor.defined() ? static_cast<W*>(tensor.data_ptr()) : nullptr;
}
inline float* fp32_data(const at::Tensor& tensor) { return compute_data<float>(tensor); }

/// Calls body with a Bf16 or a float, after `compute_dtype`.
template <class Body>
auto with_compute_dtype(at::ScalarType compute_dtype, const Body& body) {
    return compute_dtype == at::kBFloat16 ? body(Bf16{}) : body(float{});
}

}  // namespace bertpretrain::cpu
