#include "model/parameter_table.h"

#include <algorithm>
#include <utility>

namespace bertpretrain {

void ParameterRows::begin(ModelPart part, std::size_t stage) {
    part_ = part;
    stage_ = stage;
}

ParameterSpec& ParameterRows::add(const std::string& name, std::vector<std::int64_t> shape, InitialValues initial) {
    ParameterSpec spec;
    spec.name = name;
    spec.decays = shape.size() > 1;
    spec.shape = std::move(shape);
    spec.fp32_gradient = !spec.decays;
    spec.initial = initial;
    spec.number = static_cast<std::uint32_t>(rows.size());
    spec.part = part_;
    rows.push_back({spec, stage_});
    return rows.back().spec;
}

ModelParameters in_both_orders(std::vector<StagedParameter> all, std::size_t stages) {
    ModelParameters parameters;
    for (const StagedParameter& staged : all) parameters.checkpoint_order.push_back(staged.spec);
    std::stable_sort(all.begin(), all.end(), [](const StagedParameter& a, const StagedParameter& b) {
        return std::pair(!a.spec.decays, a.stage) < std::pair(!b.spec.decays, b.stage);
    });
    for (const StagedParameter& staged : all) parameters.layout_order.push_back(staged.spec);
    for (std::size_t stage = 0; stage < stages; ++stage) {
        const auto is_final = [&](const StagedParameter& staged) { return staged.spec.decays && staged.stage <= stage; };
        parameters.stage_ends.push_back(static_cast<std::size_t>(std::ranges::count_if(all, is_final)));
    }
    parameters.stage_ends.back() = all.size();
    return parameters;
}

}  // namespace bertpretrain
