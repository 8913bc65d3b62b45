#include "kernels/cuda/lanes.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/rotate.h"

namespace bertpretrain::cuda {
namespace {

constexpr std::int64_t threads_per_block = 128;

/// A block rotates one row. Neighbouring threads rotate neighbouring features of a head.
template <class W>
__global__ void rotate_one_row(const RotatedRows<W> pass) {
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
void rotate_rows(const RotatedRows<W>& pass, cudaStream_t stream) {
    launch(rotate_one_row<W>, grid_of(pass.rows), threads_per_block, stream, pass);
}
template void rotate_rows(const RotatedRows<float>&, cudaStream_t);
template void rotate_rows(const RotatedRows<Bf16>&, cudaStream_t);

}  // namespace bertpretrain::cuda
