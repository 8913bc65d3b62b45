#include "kernels/cuda/add_parts.h"
#include "kernels/cuda/lanes.h"
#include "kernels/cuda/launch.h"

namespace bertpretrain::cuda {
namespace {

constexpr std::int64_t threads_per_block = 256;

/// A thread adds four elements of all parts. Four parts are loaded before they are added, so that as many loads are in flight.
template <class In, class Out>
__global__ void add_quads(const AddedParts<In, Out> pass) {
    wait_for_kernel_before();
    constexpr int at_once = 4;
    const std::int64_t first = 4 * (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x);
    if (first >= pass.elements) return;
    float sum[4];
    load_quad(pass.parts + first, sum);
    for (std::int64_t part = 1; part < pass.count; part += at_once) {
        float loaded[at_once][4];
#pragma unroll
        for (int p = 0; p < at_once; ++p)
            if (part + p < pass.count) load_quad(pass.parts + (part + p) * pass.elements + first, loaded[p]);
#pragma unroll
        for (int p = 0; p < at_once; ++p)
            if (part + p < pass.count)
                for (int i = 0; i < 4; ++i) sum[i] += loaded[p][i];
    }
    store_quad(pass.sum + first, sum);
}

template <class In, class Out>
__global__ void add_one_by_one(const AddedParts<In, Out> pass) {
    wait_for_kernel_before();
    const std::int64_t element = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (element >= pass.elements) return;
    float sum = to_float(pass.parts[element]);
    for (std::int64_t part = 1; part < pass.count; ++part) sum += to_float(pass.parts[part * pass.elements + element]);
    store(pass.sum + element, sum);
}

}  // namespace

template <class In, class Out>
void add_parts(const AddedParts<In, Out>& pass, bool quads, cudaStream_t stream) {
    const dim3 grid = grid_of(ceil_div(quads ? pass.elements / 4 : pass.elements, threads_per_block));
    launch(quads ? add_quads<In, Out> : add_one_by_one<In, Out>, grid, threads_per_block, stream, pass);
}
template void add_parts(const AddedParts<float, float>&, bool, cudaStream_t);
template void add_parts(const AddedParts<float, Bf16>&, bool, cudaStream_t);
template void add_parts(const AddedParts<Bf16, float>&, bool, cudaStream_t);
template void add_parts(const AddedParts<Bf16, Bf16>&, bool, cudaStream_t);

}  // namespace bertpretrain::cuda
