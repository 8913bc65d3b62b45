#include "model/initialize.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include "core/random.h"

namespace bertpretrain {
namespace {

/// Returns the standard normal numbers 2 pair and 2 pair + 1 of a parameter, by the Box-Muller method.
std::pair<float, float> normal_numbers(PhiloxKey key, std::uint32_t parameter, std::int64_t pair, std::uint32_t attempt = 0) {
    const PhiloxCounter words =
        philox(key, {static_cast<std::uint32_t>(pair), static_cast<std::uint32_t>(pair >> 32), parameter, attempt});
    const double radius = std::sqrt(-2 * std::log((words[0] + 0.5) * 0x1p-32));
    const double angle = 2 * std::numbers::pi * (words[1] * 0x1p-32);
    return {static_cast<float>(radius * std::cos(angle)), static_cast<float>(radius * std::sin(angle))};
}

/// Fills values with `scale` times the normal numbers [first, first + size) of a parameter.
void fill_normal(PhiloxKey key, std::uint32_t parameter, std::int64_t first, float scale, std::span<float> values) {
    std::pair<float, float> numbers = normal_numbers(key, parameter, first / 2);
    for (std::int64_t element = first; float& value : values) {
        if (element % 2 == 0) numbers = normal_numbers(key, parameter, element / 2);
        value = scale * (element % 2 == 0 ? numbers.first : numbers.second);
        ++element;
    }
}

/// The same with numbers beyond +-cut drawn again.
void fill_cut_normal(PhiloxKey key, std::uint32_t parameter, std::int64_t first, float scale, float cut,
                     std::span<float> values) {
    for (std::int64_t element = first; float& value : values) {
        float number = 0;
        for (std::uint32_t attempt = 0; attempt == 0 || std::abs(number) > cut; ++attempt) {
            const std::pair<float, float> numbers = normal_numbers(key, parameter, element / 2, attempt);
            number = element % 2 == 0 ? numbers.first : numbers.second;
        }
        value = scale * number;
        ++element;
    }
}

/// Fills values with the numbers [first, first + size) of a parameter, uniform between -bound and bound.
void fill_uniform(PhiloxKey key, std::uint32_t parameter, std::int64_t first, double bound, std::span<float> values) {
    PhiloxCounter words{};
    for (std::int64_t element = first; float& value : values) {
        if (const std::int64_t four = element / 4; element % 4 == 0 || element == first)
            words = philox(key, {static_cast<std::uint32_t>(four), static_cast<std::uint32_t>(four >> 32), parameter, 0});
        value = static_cast<float>(bound * ((words[static_cast<std::size_t>(element % 4)] + 0.5) * 0x1p-31 - 1));
        ++element;
    }
}

}  // namespace

void initialize_weights(const ParameterLayout& layout, std::span<const OwnedRun> runs, std::uint64_t seed,
                        const at::Tensor& slice) {
    const PhiloxKey key = philox_key(seed, Purpose::initial_weights);
    const at::Tensor on_host = slice.is_cpu() ? slice : slice.cpu();
    float* values = on_host.mutable_data_ptr<float>();
    for (const OwnedRun& run : runs) {
        const ParameterSpec& spec = layout.parameters()[run.parameter].spec;
        at::parallel_for(0, run.elements, 16384, [&](std::int64_t begin, std::int64_t end) {
            const std::span<float> part(values + run.in_slice + begin, values + run.in_slice + end);
            const auto deviation = static_cast<float>(spec.deviation);
            if (spec.initial == InitialValues::normal && spec.cut_at > 0)
                fill_cut_normal(key, spec.number, run.in_parameter + begin, deviation, static_cast<float>(spec.cut_at), part);
            else if (spec.initial == InitialValues::normal)
                fill_normal(key, spec.number, run.in_parameter + begin, deviation, part);
            else if (spec.initial == InitialValues::uniform)
                fill_uniform(key, spec.number, run.in_parameter + begin, spec.deviation, part);
            else std::ranges::fill(part, spec.initial == InitialValues::ones ? 1.0F : 0.0F);
        });
    }
    if (!on_host.is_same(slice)) at::Tensor(slice).copy_(on_host);
}

}  // namespace bertpretrain
