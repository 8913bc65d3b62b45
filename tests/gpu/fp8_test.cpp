// Operands and matmuls in fp8, against the reference on the same GPU.
#include "core/error.h"
#include "gpu/gpu.h"
#include "kernels/fp8_matmul.h"
#include "kernels/kernels_in_use.h"
#include "kernels/plain_matmul.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Whether the GPU multiplies in fp8, which those before compute capability 8.9 do not.
bool multiplies_in_fp8(at::Device device) {
    try {
        require_fp8_matmul(device);
        return true;
    } catch (const ConfigError&) { return false; }
}

}  // namespace

TEST_CASE("on a GPU operands are rounded to fp8 as by the reference, to the bit", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    RandomTensors random(5);
    for (const at::ScalarType type : {at::kFloat8_e4m3fn, at::kFloat8_e5m2})
        for (const auto& [T, C] :
             std::vector<std::pair<std::int64_t, std::int64_t>>{{128, 64}, {384, 1024}, {4096, 1600}, {132, 68}}) {
            CAPTURE(type, T, C);
            const at::Tensor x_TC =
                (random.normal({T, C}) * at::pow(2.0, random.normal({T, 1}) * 10)).to(at::kBFloat16).to(*device);
            const auto by = [&] {
                return Quantizer{type, at::full({}, 16, x_TC.options().dtype(at::kFloat)),
                                 at::zeros({}, x_TC.options().dtype(at::kFloat))};
            };
            const Quantizer of_ours = by(), of_right = by();
            const Fp8Operand ours = quantize({x_TC}, of_ours), right = reference::quantize({x_TC}, of_right);
            CHECK(at::equal(ours.rows_TC.view(at::kByte), right.rows_TC.view(at::kByte)));
            CHECK(at::equal(ours.columns_CT.view(at::kByte), right.columns_CT.view(at::kByte)));
            CHECK(same_bits(of_ours.largest_1, of_right.largest_1));
        }
}

TEST_CASE("on a GPU matmuls in fp8 are those of the operands' exact values, up to their sums' rounding", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    if (!multiplies_in_fp8(*device)) SKIP_TEST(skip::no_fp8, "this GPU has no instructions for fp8");
    RandomTensors random(6);
    const auto factor = [&](std::int64_t M, std::int64_t K, at::ScalarType type) {
        return Fp8Factor{(random.normal({M, K}) * 8).to(type).to(*device), at::full({}, 0.125, at::TensorOptions(*device))};
    };
    for (const auto& [M, N, K] :
         std::vector<std::array<std::int64_t, 3>>{{128, 1024, 1024}, {4096, 3072, 1024}, {1024, 4096, 16384}})
        for (const at::ScalarType type : {at::kFloat8_e4m3fn, at::kFloat8_e5m2}) {
            CAPTURE(M, N, K, type);
            const Fp8Factor a = factor(M, K, type), b = factor(N, K, at::kFloat8_e4m3fn);
            const at::Tensor right = reference_matmul().fp8_gemm(a, b, at::kFloat, false);
            CHECK(relative_error(library_matmul().fp8_gemm(a, b, at::kFloat, false), right) < 1e-3);
            CHECK(relative_error(library_matmul().fp8_gemm(a, b, at::kBFloat16, false), right) < 3e-3);
            CHECK(relative_error(library_matmul().fp8_gemm(a, b, at::kBFloat16, true), right) < 2e-2);
        }
}
