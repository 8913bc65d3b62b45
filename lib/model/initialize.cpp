#include "model/initialize.h"

#include <cmath>
#include <numbers>

#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>

#include "core/random.h"
#include "model/bert_parameters.h"

namespace bertpretrain {
namespace {

/// Returns a standard normal number; one Philox call gives two of them, by the Box-Muller method.
float normal_number(PhiloxKey key, std::uint32_t parameter, std::int64_t element) {
    const auto pair = static_cast<std::uint64_t>(element) / 2;
    const PhiloxCounter words =
        philox(key, {static_cast<std::uint32_t>(pair), static_cast<std::uint32_t>(pair >> 32), parameter, 0});
    const double radius = std::sqrt(-2 * std::log((words[0] + 0.5) * 0x1p-32));
    const double angle = 2 * std::numbers::pi * (words[1] * 0x1p-32);
    return static_cast<float>(radius * (element % 2 == 0 ? std::cos(angle) : std::sin(angle)));
}

}  // namespace

void initialize_weights(const BertConfig& config, const ParameterLayout& layout, std::span<const OwnedRun> runs,
                        std::uint64_t seed, const at::Tensor& slice) {
    const PhiloxKey key = philox_key(seed, Purpose::initial_weights);
    BertConfig with_all_heads = config;  // so that the same seed gives the same encoder with and without next sentences
    with_all_heads.next_sentence = true;
    const std::vector<ParameterSpec> order = bert_parameters(with_all_heads).checkpoint_order;
    const at::Tensor on_host = slice.is_cpu() ? slice : slice.cpu();
    float* values = on_host.mutable_data_ptr<float>();
    const auto range = static_cast<float>(config.initializer_range);
    for (const OwnedRun& run : runs) {
        const ParameterSpec& spec = layout.parameters()[run.parameter].spec;
        const auto number = static_cast<std::uint32_t>(
            std::find_if(order.begin(), order.end(), [&](const ParameterSpec& other) { return other.name == spec.name; }) -
            order.begin());
        const bool is_norm_weight = !spec.decays && spec.name.ends_with(".weight");
        at::parallel_for(0, run.elements, 16384, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                values[run.in_slice + i] = spec.decays      ? range * normal_number(key, number, run.in_parameter + i)
                                           : is_norm_weight ? 1.0F
                                                            : 0.0F;
        });
    }
    if (!on_host.is_same(slice)) at::Tensor(slice).copy_(on_host);
}

}  // namespace bertpretrain
