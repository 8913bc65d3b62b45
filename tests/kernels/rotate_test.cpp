#include "kernels/kernel_inputs.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Angles of P positions for heads of D features, as Rotary has them.
at::Tensor angles(std::int64_t P, std::int64_t D, double theta) {
    const at::Tensor frequency_F = at::pow(theta, at::arange(0, D, 2, at::kDouble) / -static_cast<double>(D));
    const at::Tensor angle_PF = at::arange(P, at::kDouble).unsqueeze(1) * frequency_F;
    return at::cat({angle_PF.cos(), angle_PF.sin()}, 1).to(at::kFloat);
}

}  // namespace

TEST_CASE("queries and keys are rotated by their position as complex numbers are, values stay, and the inverse rotates back") {
    const std::int64_t T = 41, N = 3;
    for (const std::int64_t D : {2, 10, 64})
        for (const at::ScalarType compute_dtype : {at::kFloat, at::kBFloat16}) {
            RandomTensors random(static_cast<std::uint64_t>(D));
            const at::Tensor qkv_T3H = random.normal({T, 3 * N * D}, compute_dtype), positions_T = random.below(50, T);
            const at::Tensor angles_PD = angles(50, D, 100);
            const at::Tensor heads = qkv_T3H.to(at::kDouble).view({T, 3 * N, 2, D / 2}).narrow(1, 0, 2 * N);
            const at::Tensor angles_T1D = angles_PD.to(at::kDouble).index_select(0, positions_T).unsqueeze(1);
            const at::Tensor rotated =
                at::complex(heads.select(2, 0).contiguous(), heads.select(2, 1).contiguous()) *
                at::complex(angles_T1D.narrow(2, 0, D / 2).contiguous(), angles_T1D.narrow(2, D / 2, D / 2).contiguous());
            const at::Tensor right = at::stack({at::real(rotated), at::imag(rotated)}, 2).reshape({T, 2 * N * D});
            for (const Operations& operations : both_implementations) {
                CAPTURE(operations.name, D, compute_dtype);
                at::Tensor ours = qkv_T3H.clone();
                operations.rotate(ours, positions_T, {angles_PD, N});
                CHECK_ROUNDED(ours.narrow(1, 0, 2 * N * D), right);
                CHECK(same_bits(ours.narrow(1, 2 * N * D, N * D), qkv_T3H.narrow(1, 2 * N * D, N * D)));
                operations.rotate(ours, positions_T, {angles_PD, N, /*inverse=*/true});
                CHECK(relative_error(ours, qkv_T3H) <= 2 * rounding_bound(ours));
            }
        }
}
