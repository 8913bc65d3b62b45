#include "kernels/cpu/mkl_matmul.h"

#include <algorithm>

#include <dlfcn.h>

#include "core/error.h"

namespace bertpretrain::cpu {
namespace {

constexpr int row_major = 101, plain = 111, transposed = 112;  // cblas.h

// Looked up at run time: no header of libtorch declares it, and not every libtorch contains it.
using Gemm = void (*)(int layout, int transpose_a, int transpose_b, int m, int n, int k, float alpha, const void* a, int lda,
                      const void* b, int ldb, float beta, float* c, int ldc);

Gemm gemm() {
    static const auto found = reinterpret_cast<Gemm>(::dlsym(RTLD_DEFAULT, "cblas_gemm_bf16bf16f32"));
    return found;
}

struct Operand {
    int transpose = plain, leading = 0;
};

Operand operand(const at::Tensor& matrix) {
    check(matrix.dim() == 2 && matrix.scalar_type() == at::kBFloat16 && matrix.is_cpu(),
          "mkl_matmul: expected 2-D bf16 matrices on the CPU");
    // A matrix of one row or column is contiguous either way, but MKL requires a leading dimension of at least the other size.
    const auto leading = [&](int contiguous) {
        return static_cast<int>(std::max(matrix.stride(1 - contiguous), matrix.size(contiguous)));
    };
    if (matrix.stride(1) == 1 || matrix.size(1) == 1) return {plain, leading(1)};
    check(matrix.stride(0) == 1 || matrix.size(0) == 1, "mkl_matmul: expected contiguous rows or columns");
    return {transposed, leading(0)};
}

}  // namespace

bool has_mkl() { return gemm() != nullptr; }

void mkl_matmul(const at::Tensor& a_MK, const at::Tensor& b_KN, const at::Tensor& out_MN, bool add) {
    check(has_mkl(), "mkl_matmul: this libtorch does not contain MKL");
    const Operand a = operand(a_MK), b = operand(b_KN);
    check(a_MK.size(1) == b_KN.size(0) && out_MN.size(0) == a_MK.size(0) && out_MN.size(1) == b_KN.size(1) &&
              out_MN.scalar_type() == at::kFloat && out_MN.is_contiguous(),
          "mkl_matmul: wrong shapes or dtype: ", a_MK.sizes(), " times ", b_KN.sizes(), " into ", out_MN.sizes());
    const auto size = [](const at::Tensor& matrix, int dim) { return static_cast<int>(matrix.size(dim)); };
    gemm()(row_major, a.transpose, b.transpose, size(a_MK, 0), size(b_KN, 1), size(a_MK, 1), 1, a_MK.data_ptr(), a.leading,
           b_KN.data_ptr(), b.leading, add ? 1 : 0, out_MN.data_ptr<float>(), size(out_MN, 1));
}

}  // namespace bertpretrain::cpu
