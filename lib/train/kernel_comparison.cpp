#include "train/kernel_comparison.h"

#include <cmath>
#include <limits>
#include <vector>

#include <ATen/ATen.h>

#include "core/concat.h"
#include "kernels/kernels_in_use.h"

namespace bertpretrain {
namespace {

// Above what rounding explains in the models that were tried, up to 12 layers of 768.
constexpr double fp32_bound = 1e-3, bf16_bound = 0.2;
constexpr double fp32_loss_bound = 1e-4, bf16_loss_bound = 0.02;
/// A gradient whose norm is below this share of all gradients' norm counts as having that norm: it may be a sum of large terms
/// that cancel, such as the key bias's.
constexpr double smallest_share = 1e-2;

constexpr std::int64_t block = 64;

/// Estimates of one tensor: the norm of a difference of two sketches is about that of the tensors' difference.
using Sketch = at::Tensor;

/// Signed sums over blocks of `block` elements, fp32. The signs do not repeat within a block.
Sketch sketch_of(const at::Tensor& tensor, const at::Tensor& signs) {
    const at::Tensor flat = tensor.reshape(-1).to(at::kFloat);
    const std::int64_t rest = (block - flat.numel() % block) % block;
    return at::mv(at::constant_pad_nd(flat, {0, rest}).view({-1, block}), signs).cpu();
}

/// +1 and -1 in an order without a period, as the bits of a constant.
at::Tensor signs_on(at::Device device) {
    constexpr std::uint64_t bits = 0x9E3779B97F4A7C15;
    at::Tensor signs = at::empty({block}, at::kFloat);
    for (std::int64_t i = 0; i < block; ++i) signs[i] = (bits >> i & 1) != 0 ? 1.0F : -1.0F;
    return signs.to(device);
}

struct Computed {
    std::vector<Sketch> gradients;
    at::Tensor losses_S4;
};

Computed sketches(const FlatParameters& parameters, const std::function<at::Tensor()>& compute) {
    Computed result;
    result.losses_S4 = compute().cpu();
    const at::Tensor signs = signs_on(parameters.device());
    for (const PlacedParameter& placed : parameters.layout().parameters())
        result.gradients.push_back(sketch_of(parameters.gradient(placed.spec.name), signs));
    return result;
}

double norm_of(const at::Tensor& tensor) { return tensor.norm().item<double>(); }

/// Uses the reference kernels until it is destroyed.
class WithReference {
public:
    explicit WithReference(at::Device device) : type_(device.type()), before_(kernels_for(device)) {
        use_kernels(type_, reference_kernels());
    }
    WithReference(const WithReference&) = delete;
    WithReference& operator=(const WithReference&) = delete;
    ~WithReference() { use_kernels(type_, before_); }

private:
    at::DeviceType type_;
    const KernelSet& before_;
};

KernelDifference difference(const std::string& name, double error, double bound) {
    return {name, std::isfinite(error) ? error : std::numeric_limits<double>::infinity(), bound};
}

/// Losses only: numbers of correct predictions may differ by ties.
double loss_error(const at::Tensor& own_S4, const at::Tensor& reference_S4) {
    double error = 0;
    for (const std::int64_t column : {0, 2}) {
        const at::Tensor right = reference_S4.select(1, column);
        const double norm = norm_of(right);
        if (norm > 0) error = std::max(error, norm_of(own_S4.select(1, column) - right) / norm);
        if (!std::isfinite(norm)) return norm;
    }
    return error;
}

}  // namespace

KernelDifference compare_with_reference(const FlatParameters& parameters, const std::function<at::Tensor()>& compute) {
    const Computed own = sketches(parameters, compute);
    const Computed reference = [&] {
        const WithReference kernels(parameters.device());
        return sketches(parameters, compute);
    }();
    const bool fp32 = parameters.compute_dtype() == at::kFloat;
    KernelDifference largest =
        difference("the losses", loss_error(own.losses_S4, reference.losses_S4), fp32 ? fp32_loss_bound : bf16_loss_bound);
    double squares = 0;
    for (const Sketch& sketch : reference.gradients) squares += std::pow(norm_of(sketch), 2);
    const double bound = fp32 ? fp32_bound : bf16_bound, least = smallest_share * std::sqrt(squares);
    const std::vector<PlacedParameter>& placed = parameters.layout().parameters();
    for (std::size_t i = 0; i < placed.size(); ++i) {
        const double norm = std::max(norm_of(reference.gradients[i]), least);
        const KernelDifference one = difference(concat("the gradient of ", placed[i].spec.name),
                                                norm_of(own.gradients[i] - reference.gradients[i]) / norm, bound);
        if (one.error / one.bound > largest.error / largest.bound) largest = one;
    }
    return largest;
}

}  // namespace bertpretrain
