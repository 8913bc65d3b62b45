#include "inference/loaded_model.h"

#include <algorithm>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {

std::unique_ptr<FlatParameters> new_parameters(const BertConfig& config, at::ScalarType compute_dtype, at::Device device) {
    ParameterLayout layout(bert_parameters(config).layout_order, std::int64_t{1} << 40, 1);
    return std::make_unique<FlatParameters>(std::move(layout), compute_dtype, device, FlatParameters::Gradients::none);
}

bool lacks_parameters(const LoadedModel& model, const std::string& prefix) {
    return std::any_of(model.missing.begin(), model.missing.end(),
                       [&](const std::string& name) { return name.starts_with(prefix); });
}

void require_parameters(const LoadedModel& model, const std::string& prefix, const std::string& what_for) {
    std::vector<std::string> lacking;
    for (const std::string& name : model.missing)
        if (name.starts_with(prefix)) lacking.push_back(name);
    if (!lacking.empty())
        throw CheckpointError(concat(model.folder.string(), ": lacks ", join(lacking), ", and ", what_for, " needs them"));
}

void require_pooler(const LoadedModel& model, const std::string& what_for) {
    if (!model.config.next_sentence)
        throw CheckpointError(concat(model.folder.string(), ": the model has no pooler and no head for next sentences, so ",
                                     what_for, " is not possible; models that learn masked words alone have none"));
    require_parameters(model, "bert.pooler.", what_for);
}

}  // namespace bertpretrain
