#pragma once
// Initial weights as a function of the seed.

#include <cstdint>
#include <span>

#include <ATen/core/Tensor.h>

#include "model/parameter_layout.h"

namespace bertpretrain {

/// Fills one shard's part (`runs`) of the fp32 master weights as ParameterSpec::initial says. Each element depends only on the
/// seed, the parameter's number and its index in it, so any sharding gives the same model.
/// @param slice fp32; if it is not on the CPU, the values are generated on the CPU and copied
void initialize_weights(const ParameterLayout& layout, std::span<const OwnedRun> runs, std::uint64_t seed,
                        const at::Tensor& slice);

}  // namespace bertpretrain
