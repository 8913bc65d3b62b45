#include "kernels/cuda/add_parts.h"

#include "kernels/cuda/tensors.h"
#include "kernels/interface/implementations.h"

namespace bertpretrain::cuda {

void add_parts(const at::Tensor& parts_RN, const at::Tensor& sum_N) {
    with_compute_dtype(parts_RN.scalar_type(), [&](auto in) {
        with_compute_dtype(sum_N.scalar_type(), [&](auto out) {
            using In = decltype(in);
            using Out = decltype(out);
            add_parts<In, Out>({compute_data<In>(parts_RN), parts_RN.size(0), sum_N.numel(), compute_data<Out>(sum_N)},
                               in_quads(sum_N.numel(), {parts_RN, sum_N}), current_stream());
        });
    });
}

}  // namespace bertpretrain::cuda
