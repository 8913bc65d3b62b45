#include "operations/measure_matmul_libraries.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "core/clock.h"
#include "kernels/matmul.h"

namespace bertpretrain {
namespace {

constexpr int rounds = 3;
constexpr double hopeless = 1.5, clearly_faster = 0.9;  // relative to the default library's time
constexpr double share_of_masked = 0.16;                // rows of the decoder: the recipe masks 20 of 128 tokens

/// Returns a function that computes one matmul as the model does.
std::function<void()> matmul_of(const LinearShape& shape, std::int64_t rows) {
    const auto bf16 = at::TensorOptions(at::kBFloat16);
    const auto filled = [&](std::int64_t height, std::int64_t width) { return at::full({height, width}, 0.01, bf16); };
    const at::Tensor x_TI = filled(rows, shape.inputs), dy_TO = filled(rows, shape.outputs);
    if (shape.kind == LinearMatmul::weight_gradient) {
        const at::Tensor sum_OI = at::zeros({shape.outputs, shape.inputs}, bf16.dtype(at::kFloat));
        return [=] { add_linear_weight_gradient(dy_TO, x_TI, sum_OI); };
    }
    const at::Tensor weight_OI = filled(shape.outputs, shape.inputs);
    if (shape.kind == LinearMatmul::forward) return [=] { linear_matmul(x_TI, weight_OI); };
    return [=] { linear_input_gradient(dy_TO, weight_OI); };
}

double seconds_of(const std::function<void()>& matmul, const LinearShape& shape, MatmulLibrary library) {
    use_matmul_libraries({{shape, library}});
    const double begin = seconds_now();
    matmul();
    return seconds_now() - begin;
}

MatmulLibrary usual_library() { return has(MatmulLibrary::amx) ? MatmulLibrary::amx : default_matmul_library(); }

MatmulLibrary fastest_library(const LinearShape& shape, std::int64_t rows) {
    const std::function<void()> matmul = matmul_of(shape, rows);
    const MatmulLibrary usual = usual_library();
    std::map<MatmulLibrary, double> fastest;
    for (const MatmulLibrary library : {MatmulLibrary::onednn, MatmulLibrary::amx, MatmulLibrary::mkl})
        if (has(library)) fastest[library] = std::numeric_limits<double>::infinity();
    for (int round = 0; round <= rounds; ++round)
        for (auto& [library, seconds] : fastest) {
            if (round > 1 && seconds > hopeless * fastest[usual]) continue;
            const double taken = seconds_of(matmul, shape, library);
            if (round > 0)
                seconds = std::min(seconds, taken);  // round 0 warms up: it touches memory for the first time and generates code
        }
    MatmulLibrary best = usual;
    for (const auto& [library, seconds] : fastest)
        if (seconds < clearly_faster * fastest[usual] && seconds < fastest[best]) best = library;
    return best;
}

}  // namespace

MatmulLibraries measure_matmul_libraries(const ModelConfig& model, std::int64_t tokens) {
    MatmulLibraries libraries;
    const std::int64_t vocabulary = shape_of(model).vocab_size;
    const auto masked = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(tokens) * share_of_masked));
    for (const LinearShape& shape : matmuls_of(model))
        libraries[shape] = fastest_library(shape, shape.outputs == vocabulary ? masked : tokens);
    use_matmul_libraries({});
    return libraries;
}

}  // namespace bertpretrain
