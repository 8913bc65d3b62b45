#include "kernels/cuda/lanes.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rotate.h"

namespace bertpretrain::cuda {
namespace {

constexpr std::int64_t threads_per_block = 128;
constexpr int heads_at_once = 4;

/// A thread rotates four features of four heads of one row, so that eight loads are in flight. Neighbouring threads have
/// neighbouring features, then neighbouring heads.
template <class W>
__global__ void rotate_quads(const RotatedRows<W> pass) {
    wait_for_kernel_before();
    const auto pieces = static_cast<int>(pass.half / 4), heads = static_cast<int>(pass.heads),
               groups = (heads + heads_at_once - 1) / heads_at_once, of_row = groups * pieces;
    const std::int64_t thread = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x, row = thread / of_row;
    if (row >= pass.rows) return;
    const int in_row = static_cast<int>(thread - row * of_row), piece = in_row % pieces, group = in_row / pieces;
    const float* const angles = pass.angles + pass.positions[row] * 2 * pass.half + 4 * piece;
    float cosine[4], sine[4], low[heads_at_once][4], high[heads_at_once][4];
    load_quad(angles, cosine);
    load_quad(angles + pass.half, sine);
    W* const first = pass.at + row * pass.stride + group * 2 * pass.half + 4 * piece;
    const std::int64_t step = groups * 2 * pass.half;  // to the thread's next head
#pragma unroll
    for (int h = 0; h < heads_at_once; ++h)
        if (group + h * groups < heads) {
            load_quad(first + h * step, low[h]);
            load_quad(first + h * step + pass.half, high[h]);
        }
#pragma unroll
    for (int h = 0; h < heads_at_once; ++h)
        if (group + h * groups < heads) {
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const float a = low[h][i], b = high[h][i], signed_sine = pass.sign * sine[i];
                low[h][i] = a * cosine[i] - b * signed_sine;
                high[h][i] = b * cosine[i] + a * signed_sine;
            }
            store_quad(first + h * step, low[h]);
            store_quad(first + h * step + pass.half, high[h]);
        }
}

/// A block rotates one row. Neighbouring threads rotate neighbouring features of a head.
template <class W>
__global__ void rotate_one_row(const RotatedRows<W> pass) {
    wait_for_kernel_before();
    const std::int64_t row = blockIdx.x, half = pass.half, pairs = pass.heads * half;
    const float *cosines = pass.angles + pass.positions[row] * 2 * half, *sines = cosines + half;
    W* const values = pass.at + row * pass.stride;
    for (std::int64_t pair = threadIdx.x; pair < pairs; pair += blockDim.x) {
        const std::int64_t j = pair % half;
        W *low = values + pair / half * 2 * half + j, *high = low + half;
        const float a = to_float(*low), b = to_float(*high), cosine = cosines[j], sine = pass.sign * sines[j];
        store(low, a * cosine - b * sine);
        store(high, b * cosine + a * sine);
    }
}

}  // namespace

template <class W>
void rotate_rows(const RotatedRows<W>& pass, bool quads, cudaStream_t stream) {
    const std::int64_t threads = pass.rows * ceil_div(pass.heads, heads_at_once) * (pass.half / 4);
    if (quads) launch(rotate_quads<W>, grid_of(ceil_div(threads, threads_per_block)), threads_per_block, stream, pass);
    else launch(rotate_one_row<W>, grid_of(pass.rows), threads_per_block, stream, pass);
}
template void rotate_rows(const RotatedRows<float>&, bool, cudaStream_t);
template void rotate_rows(const RotatedRows<Bf16>&, bool, cudaStream_t);

}  // namespace bertpretrain::cuda
