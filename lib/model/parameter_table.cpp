#include "model/parameter_table.h"

#include <algorithm>
#include <utility>

namespace bertpretrain {

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
