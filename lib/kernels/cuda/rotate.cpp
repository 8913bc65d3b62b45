#include "kernels/cuda/rotate.h"

#include "kernels/cuda/tensors.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cuda {

void rotate(at::Tensor& qkv_T3H, const at::Tensor& positions_T, const Rotary& rotary) {
    const std::int64_t T = qkv_T3H.size(0), width = qkv_T3H.size(1), half = width / 3 / rotary.heads / 2;
    with_compute_dtype(qkv_T3H.scalar_type(), [&](auto w) {
        using W = decltype(w);
        rotate_rows<W>({T, width, 2 * rotary.heads, half, positions_T.const_data_ptr<std::int64_t>(), fp32_data(rotary.angles_PD),
                        rotary.inverse ? -1.0F : 1.0F, compute_data<W>(qkv_T3H)},
                       in_quads(half, {qkv_T3H, rotary.angles_PD}), current_stream());
    });
}

}  // namespace bertpretrain::cuda
