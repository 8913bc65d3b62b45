#include "train/memory_plan.h"

#include <algorithm>

#include <unistd.h>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {

std::string MemoryPlan::text() const {
    return concat("weights ", bytes_text(weights), ", gradients ", bytes_text(gradients), ", optimizer ", bytes_text(optimizer),
                  transfer > 0 ? concat(", transfer ", bytes_text(transfer)) : "", ", and activations");
}

MemoryPlan plan_memory(const ExperimentConfig& experiment, const ParameterLayout& layout) {
    const auto elements = static_cast<std::uint64_t>(layout.flat_elements());
    const auto sliced = experiment.parallel.zero_stage == 1 ? static_cast<std::uint64_t>(layout.slice_elements()) : elements;
    std::uint64_t exempt = 0;
    for (const PlacedParameter& parameter : layout.parameters())
        if (!parameter.spec.decays) exempt += static_cast<std::uint64_t>(parameter.spec.elements());
    MemoryPlan plan;
    plan.weights = elements * (experiment.training.precision == "bf16" ? 2 : 4) + exempt * 4;
    plan.gradients = elements * 4;
    plan.optimizer = sliced * 12;
    if (layout.shards() == 1) return plan;
    const bool rounded = experiment.parallel.reduce_dtype == "bf16";
    std::uint64_t largest[2] = {0, 0};  // buckets take turns in two rooms
    for (std::size_t i = 0; i < layout.buckets().size(); ++i)
        largest[i % 2] = std::max(largest[i % 2], static_cast<std::uint64_t>(layout.buckets()[i].elements()));
    plan.transfer = (largest[0] + largest[1]) * (rounded ? 2 + 2 : 4);
    return plan;
}

void refuse_too_large(const MemoryPlan& plan, std::int64_t parameters, std::int64_t ranks_here) {
    const std::uint64_t needed = plan.total() * static_cast<std::uint64_t>(ranks_here);
    const auto there =
        static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    if (needed > there)
        throw ConfigError(concat("model: ", with_thousands(parameters), " parameters need ", bytes_text(needed),
                                 " of memory for weights, gradients and optimizer state",
                                 ranks_here > 1 ? concat(" of the ", ranks_here, " ranks on this machine") : "",
                                 ", and this machine has ", bytes_text(there), "; make the model smaller"));
}

}  // namespace bertpretrain
