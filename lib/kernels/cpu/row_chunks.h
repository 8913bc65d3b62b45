#pragma once
// Distributes rows to threads in chunks of fixed size, so that column sums do not depend on the number of threads.

#include <algorithm>
#include <cstdint>

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>

#include "kernels/cpu/parts.h"
#include "kernels/cpu/vector_math.h"
#include "kernels/cpu/work_stealing.h"

namespace bertpretrain::cpu {

constexpr std::int64_t rows_per_chunk = 32;
inline std::int64_t row_chunks(std::int64_t rows) { return (rows + rows_per_chunk - 1) / rows_per_chunk; }

/// Calls body(chunk, first row, end row) for all chunks, in parallel.
template <class Body>
void for_row_chunks(std::int64_t rows, const Body& body) {
    for_each_piece(row_chunks(rows), [&](std::int64_t chunk) {
        body(chunk, chunk * rows_per_chunk, std::min(rows, (chunk + 1) * rows_per_chunk));
    });
}

constexpr std::int64_t stretch = 512;

/// Calls body(first element, elements) for each stretch of a row. Before each, calls `ahead` with the first element of the
/// stretch after the next one; near the end of the row this element belongs to the following rows.
template <class Ahead, class Body>
void for_stretches(std::int64_t width, const Ahead& ahead, const Body& body) {
    for (std::int64_t from = 0; from < width; from += stretch) {
        ahead(from + 2 * stretch);
        body(from, std::min(stretch, width - from));
    }
}

/// One row of partial sums per chunk, added up in the order of chunks.
class ColumnSums {
public:
    ColumnSums(std::int64_t rows, std::int64_t columns) : chunks_C(at::zeros({row_chunks(rows), columns}, at::kFloat)) {}
    float* chunk(std::int64_t c) { return chunks_C.data_ptr<float>() + c * chunks_C.size(1); }
    /// total[column] += sum over chunks, for columns [0, columns).
    void add_to(float* total) const {
        const std::int64_t chunks = chunks_C.size(0), columns = chunks_C.size(1);
        const float* sums = chunks_C.data_ptr<float>();
        const Parts parts = Parts::of_up_to(1024, columns);
        for_each_piece(parts.parts, [&](std::int64_t part) {
            for (std::int64_t c = 0; c < chunks; ++c)
                for (std::int64_t column = parts.first(part); column < parts.first(part + 1); ++column)
                    total[column] += sums[c * columns + column];
        });
    }

private:
    at::Tensor chunks_C;
};

/// Returns a tensor's data as W (Bf16 or float), or null if undefined.
template <class W>
W* compute_data(const at::Tensor& tensor) {
    return tensor.defined() ? static_cast<W*>(tensor.data_ptr()) : nullptr;
}
inline float* fp32_data(const at::Tensor& tensor) { return compute_data<float>(tensor); }

/// Calls body with a Bf16 or a float, depending on `compute_dtype`.
template <class Body>
auto with_compute_dtype(at::ScalarType compute_dtype, const Body& body) {
    return compute_dtype == at::kBFloat16 ? body(Bf16{}) : body(float{});
}

}  // namespace bertpretrain::cpu
