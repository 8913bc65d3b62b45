#include <ATen/ATen.h>

#include "kernels/matmul.h"
#include "step_parts.h"

// libtorch_cpu exports this function but has no header for it: Intel oneMKL, "cblas_gemm_bf16bf16f32".
extern "C" void cblas_gemm_bf16bf16f32(int layout, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                                       const void* a, int lda, const void* b, int ldb, float beta, float* c, int ldc);

namespace bertpretrain::benchmark {
namespace {

constexpr int row_major = 101, plain = 111, transposed = 112;

/// The operands of one Linear layer's three matmuls.
struct Linear {
    std::int64_t T, I, O;
    std::vector<at::Tensor> x_TI, weight_OI, dy_TO, d_weight_OI, exact;  // the last: MKL's output

    Linear(at::Device device, std::int64_t tokens, std::int64_t inputs, std::int64_t outputs) : T(tokens), I(inputs), O(outputs) {
        const at::TensorOptions fp32(device);
        for (std::size_t set = 0; set < operand_sets; ++set) {
            x_TI.push_back(at::randn({T, I}, fp32).to(at::kBFloat16));
            weight_OI.push_back(at::randn({O, I}, fp32).to(at::kBFloat16));
            dy_TO.push_back(at::randn({T, O}, fp32).to(at::kBFloat16));
            d_weight_OI.push_back(at::zeros({O, I}, fp32));
            if (device.is_cpu()) exact.push_back(at::empty({T * std::max(I, O)}));
        }
    }
    double flops() const { return 2.0 * static_cast<double>(T * I * O); }
};

struct Named {
    std::string name;
    double calls;
    std::int64_t tokens, inputs, outputs;
    bool accumulate = false;  ///< whether dW is added to the gradient, as the model does in a step of one micro-batch
};

std::vector<Named> linears(const StepShape& s) {
    const std::int64_t T = s.sequences * s.length, H = s.hidden, F = s.intermediate, M = (s.sequences * s.masked + 31) / 32 * 32;
    // The last layer computes the rows that the heads read: ModernBERT has no next sentence's, but a gate of the same width.
    const std::int64_t R = s.is_modern() ? M : s.sequences + M, up = s.is_modern() ? 2 * F : F;
    const auto L = static_cast<double>(s.layers);
    return {{"query, key, value", L, T, H, 3 * H},
            {"attention output", L - 1, T, H, H},
            {"intermediate", L - 1, T, H, up},
            {"output", L - 1, T, F, H},
            {"last attention output", 1, R, H, H},
            {"last intermediate", 1, R, H, up},
            {"last output", 1, R, F, H},
            {"transform", 1, M, H, H, /*accumulate=*/true},
            {"decoder", 1, M, H, s.vocabulary, /*accumulate=*/true}};
}

int narrow(std::int64_t value) { return static_cast<int>(value); }

}  // namespace

std::vector<Part> product_parts(const StepShape& shape) {
    std::vector<Part> parts;
    for (const Named& named : linears(shape)) {
        const auto l = std::make_shared<Linear>(shape.device, named.tokens, named.inputs, named.outputs);
        const auto add = [&](const char* direction, std::function<void(std::size_t)> run) {
            parts.push_back({named.name + direction, named.calls, l->flops(), 0, std::move(run), "products"});
        };
        add(", forward", [l](std::size_t i) { linear_matmul(l->x_TI[i], l->weight_OI[i]); });
        add(", dX", [l](std::size_t i) { linear_input_gradient(l->dy_TO[i], l->weight_OI[i]); });
        add(", dW", [l, named](std::size_t i) {
            add_linear_weight_gradient(l->dy_TO[i], l->x_TI[i], l->d_weight_OI[i], named.accumulate);
        });
    }
    return parts;
}

std::vector<MatmulCandidates> matmul_candidates(const StepShape& shape) {
    std::vector<MatmulCandidates> all;
    for (const Named& named : linears(shape)) {
        if (named.name.rfind("last", 0) == 0 || named.name == "transform") continue;
        const auto l = std::make_shared<Linear>(shape.device, named.tokens, named.inputs, named.outputs);
        const int T = narrow(l->T), I = narrow(l->I), O = narrow(l->O);
        all.push_back({named.name + ", forward", l->flops(), [l](std::size_t i) { linear_matmul(l->x_TI[i], l->weight_OI[i]); },
                       [l](std::size_t i) { at::mm(l->x_TI[i], l->weight_OI[i].t()); },
                       [=](std::size_t i) {
                           cblas_gemm_bf16bf16f32(row_major, plain, transposed, T, O, I, 1, l->x_TI[i].data_ptr(), I,
                                                  l->weight_OI[i].data_ptr(), I, 0, l->exact[i].data_ptr<float>(), O);
                       }});
        all.push_back({named.name + ", dX", l->flops(),
                       [l](std::size_t i) { linear_input_gradient(l->dy_TO[i], l->weight_OI[i]); },
                       [l](std::size_t i) { at::mm(l->dy_TO[i], l->weight_OI[i]); },
                       [=](std::size_t i) {
                           cblas_gemm_bf16bf16f32(row_major, plain, plain, T, I, O, 1, l->dy_TO[i].data_ptr(), O,
                                                  l->weight_OI[i].data_ptr(), I, 0, l->exact[i].data_ptr<float>(), I);
                       }});
        all.push_back({named.name + ", dW", l->flops(),
                       [l](std::size_t i) { add_linear_weight_gradient(l->dy_TO[i], l->x_TI[i], l->d_weight_OI[i]); },
                       [l](std::size_t i) { l->d_weight_OI[i].add_(at::mm(l->dy_TO[i].t(), l->x_TI[i])); },
                       [=](std::size_t i) {
                           cblas_gemm_bf16bf16f32(row_major, transposed, plain, O, I, T, 1, l->dy_TO[i].data_ptr(), O,
                                                  l->x_TI[i].data_ptr(), I, 1, l->d_weight_OI[i].data_ptr<float>(), I);
                       }});
    }
    return all;
}

}  // namespace bertpretrain::benchmark
