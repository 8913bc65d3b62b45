#include "inference/loaded_model.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "checkpoint/checkpoint_files.h"
#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/described_model.h"
#include "checkpoint/find_weights.h"
#include "checkpoint/import_plan.h"
#include "checkpoint/training_progress.h"
#include "core/error.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "kernels/kernels_in_use.h"
#include "kernels/self_proof.h"
#include "model/tensor_memory.h"
#include "tokens/vocabulary/vocabulary.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace {

/// Makes the model of `loaded.config`, with uninitialized parameters without gradients.
void make(LoadedModel& loaded, at::ScalarType compute_dtype, at::Device device) {
    ParameterLayout layout(parameters_of(loaded.config).layout_order, std::int64_t{1} << 40, 1);
    loaded.parameters =
        std::make_unique<FlatParameters>(std::move(layout), compute_dtype, device, FlatParameters::Gradients::none);
    loaded.model = make_model(loaded.config, *loaded.parameters);
}

LoadedModel load_checkpoint(const std::filesystem::path& checkpoint, at::ScalarType compute_dtype, at::Device device) {
    LoadedModel loaded;
    loaded.folder = checkpoint;
    const CheckpointReader reader(loaded.folder);
    const std::string file = (loaded.folder / settings_file).string();
    bool divides = false;
    try {
        loaded.config = trained_model(reader.settings(), file);
        divides = reader.settings().at("data").value("block_diagonal", false);
        loaded.sequence_length = reader.settings().at("data").at("sequence_length").get<std::int64_t>();
    } catch (const nlohmann::json::exception& error) {
        throw CheckpointError(concat(file, ": does not contain the settings of a run (", error.what(), ")"));
    }
    loaded.step = reader.step();
    const std::string casing = TrainingProgress::read(reader.progress(), loaded.folder / progress_file).casing;
    if (!casing.empty()) loaded.casing = casing == "cased" ? Casing::cased : Casing::uncased;
    loaded.vocabulary = tokenizer_in_folder(loaded.folder);
    if (divides) loaded.document_end = Vocabulary::read(loaded.vocabulary).specials().sep;
    make(loaded, compute_dtype, device);
    for (const PlacedParameter& parameter : loaded.parameters->layout().parameters()) {
        const at::Tensor values = at::empty(parameter.spec.shape, at::kFloat);
        reader.read_parameter(parameter.spec.name, 0, values.data_ptr<float>(), values.numel());
        at::Tensor weight = loaded.parameters->weight(parameter.spec.name);
        weight.copy_(values);
    }
    return loaded;
}

ModelConfig described(const FoundWeights& found) {
    if (!found.model)
        throw CheckpointError(concat(found.files.front().string(), " (", found.what,
                                     "): its folder has no config.json, which describes the model\n  ",
                                     "do: copy the model's config.json into the same folder"));
    return described_model(*found.model);
}

std::vector<ParameterSpec> specs_of(const ModelConfig& model, const std::vector<std::string>& names) {
    std::vector<ParameterSpec> specs = parameters_of(model).checkpoint_order;
    std::erase_if(specs, [&](const ParameterSpec& spec) { return std::ranges::find(names, spec.name) == names.end(); });
    return specs;
}

/// Refuses rows that only training can fill: zeros as the vectors of tokens would take part in the softmax.
/// @throws CheckpointError
void refuse_further_rows(const PlannedImport& import, const WeightFiles& files, const ModelConfig& model,
                         const std::string& advice) {
    using enum PlannedImport::Beyond;
    if (import.beyond != repeated && import.beyond != initial) return;
    const bool is_vocabulary = import.beyond == initial;
    throw CheckpointError(concat(files.found().files.front().string(), ": has fewer rows in ", import.name, " than ",
                                 is_vocabulary ? "vocab_size" : "max_position_embeddings", " of ", files.found().model->string(),
                                 " says, ", is_vocabulary ? shape_of(model).vocab_size : shape_of(model).longest_sequence,
                                 "\n  do: ", advice));
}

/// @throws CheckpointError when a tensor of the encoder is missing or does not fit
ImportPlan plan_of(const WeightFiles& files, const ModelConfig& model) {
    ImportChoices choices{.missing_allowed = true, .unexpected_allowed = true};
    const std::string file = files.found().files.front().string();
    choices.advice = concat("use the config.json that belongs to these weights instead of ", files.found().model->string());
    try {
        ImportPlan plan = plan_import(files, model, choices);
        std::vector<std::string> lacking;
        for (const ParameterSpec& spec : specs_of(model, plan.initial))
            if (spec.part == ModelPart::encoder) lacking.push_back(spec.name);
        if (!lacking.empty()) throw CheckpointError(concat(file, ": lacks ", join(lacking), "\n  do: ", choices.advice));
        for (const PlannedImport& import : plan.imports) refuse_further_rows(import, files, model, choices.advice);
        return plan;
    } catch (const ConfigError& error) { throw CheckpointError(error.what()); }  // the files are wrong, not a setting
}

/// Returns whether the files have no tensor of pooler and next-sentence head at all, as those of BertForMaskedLM.
bool lacks_next_sentence(const ImportPlan& plan, const ModelConfig& model) {
    const std::vector<ParameterSpec> all = parameters_of(model).checkpoint_order, missing = specs_of(model, plan.initial);
    const auto count = [](const std::vector<ParameterSpec>& specs) {
        return std::ranges::count(specs, ModelPart::pooler, &ParameterSpec::part) +
               std::ranges::count(specs, ModelPart::next_sentences_head, &ParameterSpec::part);
    };
    return count(missing) == count(all);
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

LoadedModel load_foreign(const FoundWeights& found, at::ScalarType compute_dtype, at::Device device) {
    LoadedModel loaded;
    loaded.folder = found.files.front().parent_path();
    loaded.is_foreign = true;
    const WeightFiles files(found);  // first: what is no model at all needs no config.json
    loaded.config = described(found);
    ImportPlan plan = plan_of(files, loaded.config);
    const bool has_next_sentence = !lacks_next_sentence(plan, loaded.config);
    set_next_sentence(loaded.config, has_next_sentence);
    if (!has_next_sentence) plan = plan_of(files, loaded.config);
    loaded.missing = specs_of(loaded.config, plan.initial);
    for (const std::string& remark : plan.remarks) log_info(concat(files.found().files.front().string(), ": ", remark));
    make(loaded, compute_dtype, device);
    read_weights(files, plan, *loaded.parameters);
    if (found.vocabulary) loaded.vocabulary = *found.vocabulary;
    return loaded;
}

}  // namespace

bool LoadedModel::lacks(const std::string& name) const {
    return std::ranges::find(missing, name, &ParameterSpec::name) != missing.end();
}
bool LoadedModel::lacks(ModelPart part) const { return std::ranges::find(missing, part, &ParameterSpec::part) != missing.end(); }

std::int64_t trained_length(const LoadedModel& model) {
    const std::int64_t positions = shape_of(model.config).longest_sequence;
    return model.sequence_length > 0 ? std::min(model.sequence_length, positions) : positions;
}

LoadedModel load_model(const std::filesystem::path& path, at::ScalarType compute_dtype, at::Device device) {
    if (device.is_cpu()) keep_tensor_memory();  // a batch reuses the memory of the previous one's activations
    const FoundWeights found = find_weights(path);
    LoadedModel loaded =
        found.checkpoint ? load_checkpoint(*found.checkpoint, compute_dtype, device) : load_foreign(found, compute_dtype, device);
    use_proven_kernels(loaded.config, trained_length(loaded), compute_dtype, device);
    return loaded;
}

void require_all(const LoadedModel& model, const std::string& what_for) {
    if (model.missing.empty()) return;
    std::vector<std::string> lacking;
    for (const ParameterSpec& spec : model.missing) lacking.push_back(spec.name);
    throw CheckpointError(concat(model.folder.string(), ": lacks ", join(lacking), ", and ", what_for, " needs them"));
}

void require_part(const LoadedModel& model, ModelPart part, const std::string& what_for) {
    if (part == ModelPart::pooler && !shape_of(model.config).next_sentence)
        throw CheckpointError(concat(model.folder.string(), ": the model has no pooler and no head for next sentences, so ",
                                     what_for, " is not possible; models that learn masked words alone have none"));
    std::vector<std::string> lacking;
    for (const ParameterSpec& spec : model.missing)
        if (spec.part == part) lacking.push_back(spec.name);
    if (!lacking.empty())
        throw CheckpointError(concat(model.folder.string(), ": lacks ", join(lacking), ", and ", what_for, " needs them"));
}

void use_proven_kernels(const ModelConfig& model, std::int64_t longest_sequence, at::ScalarType compute_dtype,
                        at::Device device) {
    const std::vector<KernelSet> sets = available_kernels(device);
    if (sets.empty()) return;
    const Proof proof =
        prove_kernels(device, sets, {proof_shape(shape_of(model), longest_sequence, compute_dtype), /*times=*/false, {}});
    const KernelChoice choice = proof.choice();
    for (const ProofRow& row : proof.rows)
        if (row.verdict != Verdict::correct)
            log_warning(concat("GPU kernels: ", row.operation, " by \"", row.kernels, "\" on ", device.str(), ": ",
                               complaint_of(row), ". \"", choice.at(row.operation), "\" is used instead"));
    use_kernels(device.type(), chosen_kernels(sets, choice));
}

}  // namespace bertpretrain
