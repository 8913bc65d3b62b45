// Gives the matmuls of a bf16 run on a CPU operands in fp8, as a GPU would have them, to see what that costs in quality.
// fp8_learning.sh preloads it into `bertpretrain train`. In the forward both operands are e4m3, in the backward the gradient of
// the output is e5m2. Each tensor has a scale, a power of two, with which its largest magnitude fits with one bit to spare, as if
// the scale came from the step before. Both types have at most four significant bits, so bf16 holds their values exactly, and
// sums are fp32 as without fp8. Matmuls of the head, which have FP8_HEAD_ROWS outputs or more on one side, are left in bf16.
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <ATen/ATen.h>

#include "kernels/kernels_in_use.h"
#include "kernels/matmul.h"

namespace bertpretrain {
namespace {

/// An fp8 type and its largest number.
struct Fp8 {
    at::ScalarType type;
    double largest;
};
const Fp8 e4m3{at::kFloat8_e4m3fn, 448}, e5m2{at::kFloat8_e5m2, 57344};

std::int64_t head_rows() {
    static const char* const given = std::getenv("FP8_HEAD_ROWS");
    return given == nullptr ? 2000 : std::atoll(given);
}

/// Returns the tensor's values after rounding to fp8, in bf16.
at::Tensor rounded(const at::Tensor& values, const Fp8& format) {
    const double largest = values.abs().max().item<double>();
    if (!(largest > 0) || !std::isfinite(largest)) return values;
    const double scale = std::exp2(std::floor(std::log2(format.largest / largest)) - 1);
    return values.to(at::kFloat).mul(scale).to(format.type).to(at::kFloat).mul(1 / scale).to(at::kBFloat16);
}

bool is_of_head(const at::Tensor& a, const at::Tensor& b) {
    for (const at::Tensor& tensor : {a, b})
        if (tensor.size(0) >= head_rows() && tensor.size(1) >= head_rows()) return true;
    return a.size(1) >= head_rows() || b.size(1) >= head_rows();
}

at::Tensor gemm_of_fp8(const at::Tensor& a_MK, const at::Tensor& b_KN) {
    if (a_MK.scalar_type() != at::kBFloat16 || is_of_head(a_MK, b_KN)) return at::mm(a_MK, b_KN);
    const bool is_forward = b_KN.stride(0) == 1;  // the weight, transposed
    return at::mm(rounded(a_MK, is_forward ? e4m3 : e5m2), rounded(b_KN, e4m3));
}

void add_weight_gradient_of_fp8(const at::Tensor& dy_TO, const at::Tensor& x_TI, const at::Tensor& d_weight_OI, bool accumulate) {
    const bool is_fp8 = dy_TO.scalar_type() == at::kBFloat16 && dy_TO.size(1) < head_rows();
    const at::Tensor dy = (is_fp8 ? rounded(dy_TO, e5m2) : dy_TO).to(at::kFloat),
                     x = (is_fp8 ? rounded(x_TI, e4m3) : x_TI).to(at::kFloat);
    at::Tensor to = d_weight_OI;
    at::addmm_out(to, to, dy.t(), x, accumulate ? 1 : 0);
}

/// Replaces the CPU's matmuls when the library is loaded.
const bool is_installed = [] {
    KernelSet set = kernels_for(at::kCPU);
    set.name = "fp8 operands";
    set.matmul = {gemm_of_fp8, add_weight_gradient_of_fp8};
    use_kernels(at::kCPU, set);
    return true;
}();

}  // namespace
}  // namespace bertpretrain
