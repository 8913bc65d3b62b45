#include "train/audit/cross_check/gradient_digest.h"

#include <algorithm>
#include <atomic>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr std::uint64_t weight_step = 0x9E3779B97F4A7C15;  // odd: 2^64 / golden ratio

/// The element's bits as integers, one-dimensional.
at::Tensor bits_of(const at::Tensor& tensor) {
    switch (tensor.scalar_type()) {
        case at::kFloat:
            return tensor.view(at::kInt).view(-1);
        case at::kBFloat16:
            return tensor.view(at::kShort).view(-1);
        case at::kDouble:
            return tensor.view(at::kLong).view(-1);
        default:
            check(false, "a digest of dtype ", c10::toString(tensor.scalar_type()));
    }
    return {};
}

template <class Integer>
std::uint64_t sum_on_cpu(const at::Tensor& bits) {
    constexpr std::int64_t elements_per_task = std::int64_t{1} << 16;
    const Integer* const values = bits.const_data_ptr<Integer>();
    std::atomic<std::uint64_t> sum = 0;
    at::parallel_for(0, bits.numel(), elements_per_task, [&](std::int64_t begin, std::int64_t end) {
        std::uint64_t part = 0;
        for (std::int64_t i = begin; i < end; ++i)
            part += static_cast<std::uint64_t>(static_cast<std::int64_t>(values[i])) *
                    ((static_cast<std::uint64_t>(i) * weight_step) | 1);
        sum += part;
    });
    return sum;
}

at::Tensor on_cpu(const at::Tensor& bits) {
    const std::uint64_t sum = bits.scalar_type() == at::kInt     ? sum_on_cpu<std::int32_t>(bits)
                              : bits.scalar_type() == at::kShort ? sum_on_cpu<std::int16_t>(bits)
                                                                 : sum_on_cpu<std::int64_t>(bits);
    return at::scalar_tensor(static_cast<std::int64_t>(sum), at::kLong);
}

/// The same by ATen's operations, for other devices.
at::Tensor on_device(const at::Tensor& bits) {
    constexpr std::int64_t chunk = std::int64_t{1} << 22;  // bounds the memory of temporary tensors
    const auto options = at::TensorOptions(bits.device()).dtype(at::kLong);
    at::Tensor sum = at::zeros({}, options);
    for (std::int64_t begin = 0; begin < bits.numel(); begin += chunk) {
        const std::int64_t count = std::min(chunk, bits.numel() - begin);
        at::Tensor terms = at::arange(begin, begin + count, options);
        terms.mul_(static_cast<std::int64_t>(weight_step)).bitwise_or_(1).mul_(bits.narrow(0, begin, count));
        sum += terms.sum();
    }
    return sum;
}

}  // namespace

at::Tensor digest_of(const at::Tensor& tensor) {
    const at::Tensor bits = bits_of(tensor);
    return bits.device().is_cpu() ? on_cpu(bits) : on_device(bits);
}

std::vector<std::uint64_t> gradient_digests(const FlatParameters& parameters, const at::Tensor& sums_S4) {
    std::vector<at::Tensor> digests;
    for (const PlacedParameter& placed : parameters.layout().parameters())
        digests.push_back(digest_of(parameters.gradient(placed.spec.name)));
    digests.push_back(digest_of(sums_S4));
    const at::Tensor all = at::stack(digests).cpu();
    const auto* const first = all.const_data_ptr<std::int64_t>();
    return {first, first + all.numel()};
}

std::uint64_t combined(std::span<const std::uint64_t> digests) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < digests.size(); ++i) sum += digests[i] * ((i * weight_step) | 1);
    return sum;
}

}  // namespace bertpretrain
