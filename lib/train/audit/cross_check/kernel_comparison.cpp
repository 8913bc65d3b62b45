#include "train/audit/cross_check/kernel_comparison.h"

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

/// norm(own - reference) / max(norm(reference), least): 0 where both are equal, infinite where `own` alone is not finite.
double relative_error(const at::Tensor& own, const at::Tensor& reference, double least = 0) {
    const double difference = norm_of(own - reference);
    if (difference == 0) return 0;
    const double error = difference / std::max(norm_of(reference), least);
    return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

/// MLM and NSP losses of all sources. The numbers of correct predictions may differ by ties.
at::Tensor losses_of(const at::Tensor& sums_S4) { return at::stack({sums_S4.select(1, 0), sums_S4.select(1, 2)}); }

double norm_of(const std::vector<Sketch>& gradients) {
    double squares = 0;
    for (const Sketch& sketch : gradients) squares += std::pow(norm_of(sketch), 2);
    return std::sqrt(squares);
}

}  // namespace

KernelDifference compare_with_reference(const FlatParameters& parameters, const std::function<at::Tensor()>& compute) {
    const Computed own = sketches(parameters, compute);
    const Computed reference = [&] {
        const WithReference kernels(parameters.device());
        return sketches(parameters, compute);
    }();
    const bool fp32 = parameters.compute_dtype() == at::kFloat;
    KernelDifference largest{"the losses", 0, fp32 ? fp32_loss_bound : bf16_loss_bound};
    const at::Tensor right = losses_of(reference.losses_S4);
    const double norm = norm_of(reference.gradients);
    if (!std::isfinite(norm_of(right)) || !std::isfinite(norm)) return largest;
    largest.error = relative_error(losses_of(own.losses_S4), right);
    const std::vector<PlacedParameter>& placed = parameters.layout().parameters();
    for (std::size_t i = 0; i < placed.size(); ++i) {
        const KernelDifference one{concat("the gradient of ", placed[i].spec.name),
                                   relative_error(own.gradients[i], reference.gradients[i], smallest_share * norm),
                                   fp32 ? fp32_bound : bf16_bound};
        if (one.error / one.bound > largest.error / largest.bound) largest = one;
    }
    return largest;
}

}  // namespace bertpretrain
