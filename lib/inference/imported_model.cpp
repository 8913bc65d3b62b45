#include "inference/imported_model.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "checkpoint/described_model.h"
#include "checkpoint/import_plan.h"
#include "checkpoint/parameter_names.h"
#include "core/error.h"
#include "core/strings.h"
#include "model/bert_parameters.h"

namespace bertpretrain {
namespace {

BertConfig described(const FoundWeights& found) {
    if (!found.model)
        throw CheckpointError(concat(found.files.front().string(), " (", found.what,
                                     "): its folder has no config.json, which describes the model\n  ",
                                     "do: copy the model's config.json into the same folder"));
    return described_model(*found.model);
}

/// @throws CheckpointError when a tensor of the encoder is missing or does not fit
ImportPlan plan_of(const WeightFiles& files, const BertConfig& config) {
    ImportChoices choices{.missing_allowed = true, .unexpected_allowed = true};
    choices.advice = concat("use the config.json that belongs to these weights instead of ", files.found().model->string());
    try {
        ImportPlan plan = plan_import(files, config, choices);
        std::vector<std::string> lacking;
        for (const std::string& name : plan.initial)
            if (!is_head_parameter(name)) lacking.push_back(name);
        if (!lacking.empty())
            throw CheckpointError(
                concat(files.found().files.front().string(), ": lacks ", join(lacking), "\n  do: ", choices.advice));
        for (const PlannedImport& import : plan.imports)
            if (import.beyond == PlannedImport::Beyond::repeated)
                throw CheckpointError(concat(files.found().files.front().string(), ": has fewer rows in ", import.name,
                                             " than max_position_embeddings of ", files.found().model->string(), " says, ",
                                             config.max_position_embeddings, "\n  do: ", choices.advice));
        return plan;
    } catch (const ConfigError& error) { throw CheckpointError(error.what()); }  // the files are wrong, not a setting
}

/// Returns whether the files have no tensor of pooler and next-sentence head at all, as those of BertForMaskedLM.
bool lacks_next_sentence(const ImportPlan& plan, const BertConfig& config) {
    const auto of_that_head = [](const auto& names) { return std::ranges::count_if(names, is_next_sentence_parameter); };
    std::vector<std::string> all;
    for (const ParameterSpec& spec : bert_parameters(config).checkpoint_order) all.push_back(spec.name);
    return of_that_head(plan.initial) == of_that_head(all);
}

void read_weights(const WeightFiles& files, const ImportPlan& plan, FlatParameters& parameters) {
    for (const PlacedParameter& parameter : parameters.layout().parameters()) parameters.weight(parameter.spec.name).zero_();
    for (const PlannedImport& import : plan.imports) {
        at::Tensor weight = parameters.weight(import.name);
        const at::Tensor values = at::zeros(weight.sizes(), at::kFloat);
        read_planned(files, import, 0, values.numel(), values.data_ptr<float>());
        weight.copy_(values);
    }
}

}  // namespace

LoadedModel import_model(const FoundWeights& found, at::ScalarType compute_dtype, at::Device device) {
    LoadedModel loaded;
    loaded.folder = found.files.front().parent_path();
    loaded.is_foreign = true;
    loaded.config = described(found);
    const WeightFiles files(found);
    ImportPlan plan = plan_of(files, loaded.config);
    loaded.config.next_sentence = !lacks_next_sentence(plan, loaded.config);
    if (!loaded.config.next_sentence) plan = plan_of(files, loaded.config);
    loaded.missing = plan.initial;
    loaded.parameters = new_parameters(loaded.config, compute_dtype, device);
    read_weights(files, plan, *loaded.parameters);
    loaded.bert = std::make_unique<Bert>(loaded.config, *loaded.parameters, Bert::Choices{});
    if (found.vocabulary) loaded.vocabulary = *found.vocabulary;
    return loaded;
}

}  // namespace bertpretrain
