#include "inference/hf_model.h"

#include <optional>

#include <ATen/ATen.h>

#include "archive/pt_reader.h"
#include "archive/safetensors_reader.h"
#include "checkpoint/checkpoint_files.h"
#include "config/read.h"
#include "core/error.h"
#include "core/strings.h"
#include "model/bert_parameters.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

BertConfig config_of(const fs::path& file) {
    const nlohmann::json json = read_json(file);
    const std::string type = json.value("model_type", "bert");
    if (type != "bert" && type != "megatron-bert")
        throw CheckpointError(concat(file.string(), ": model_type is \"", type, "\", expected \"bert\" or \"megatron-bert\""));
    if (const std::string positions = json.value("position_embedding_type", "absolute"); positions != "absolute")
        throw CheckpointError(concat(file.string(), ": position_embedding_type is \"", positions, "\", expected \"absolute\""));
    nlohmann::json known = {{"norm_placement", type == "bert" ? "post_ln" : "pre_ln"}};
    BertConfig shape;
    BertConfig::describe(shape, [&](const char* name, const auto&, auto&&...) {
        if (const auto found = json.find(name); found != json.end() && std::string(name) != "norm_placement")
            known[name] = *found;
    });
    const auto config = read_config<BertConfig>(known, file.string());
    check_bert(config);
    return config;
}

/// The tensors of either kind of file.
class WeightFile {
public:
    explicit WeightFile(const fs::path& folder) {
        if (const fs::path file = folder / "model.safetensors"; fs::exists(file)) safetensors_.emplace(file);
        else if (const fs::path pickled = folder / "pytorch_model.bin"; fs::exists(pickled)) pt_.emplace(pickled);
        else throw CheckpointError(concat(folder.string(), ": has neither model.safetensors nor pytorch_model.bin"));
    }

    const fs::path& file() const { return safetensors_ ? safetensors_->file() : pt_->file(); }

    /// The tensor's shape; nothing where there is none of this name.
    std::optional<std::vector<std::int64_t>> shape(const std::string& name) const {
        if (const auto* entry = safetensors_ ? safetensors_->find(name) : nullptr) return entry->shape;
        if (const PtValue* value = pt_ ? pt_->root().find(name) : nullptr; value != nullptr && value->tensor() != nullptr)
            return value->tensor()->shape;
        return std::nullopt;
    }

    void read(const std::string& name, const at::Tensor& into) const {
        if (safetensors_) safetensors_->read_as_float(*safetensors_->find(name), 0, into.numel(), into.data_ptr<float>());
        else pt_->read_as_float(*pt_->root().find(name)->tensor(), 0, into.numel(), into.data_ptr<float>());
    }

private:
    std::optional<SafetensorsReader> safetensors_;
    std::optional<PtReader> pt_;
};

/// Names under which files hold our parameter: BertModel alone has no "bert." before them, old ones say gamma and beta.
std::vector<std::string> names_in_files(const std::string& name) {
    std::vector<std::string> names{name};
    if (name.starts_with("bert.")) names.push_back(name.substr(5));
    for (std::size_t i = names.size(); i-- > 0;)
        for (const auto& [ours, old] :
             {std::pair("LayerNorm.weight", "LayerNorm.gamma"), std::pair("LayerNorm.bias", "LayerNorm.beta")})
            if (names[i].ends_with(ours))
                names.push_back(names[i].substr(0, names[i].size() - std::string_view(ours).size()) + old);
    return names;
}

bool is_of_a_head(const std::string& name) { return name.starts_with("cls.") || name.starts_with("bert.pooler."); }

void read_weights(const WeightFile& weights, LoadedModel& model) {
    std::vector<std::string> wrong;
    for (const PlacedParameter& parameter : model.parameters->layout().parameters()) {
        const ParameterSpec& spec = parameter.spec;
        at::Tensor weight = model.parameters->weight(spec.name);
        std::optional<std::string> found;
        for (const std::string& name : names_in_files(spec.name))
            if (!found && weights.shape(name)) found = name;
        if (!found) {
            (is_of_a_head(spec.name) ? model.missing : wrong).push_back(spec.name);
            weight.zero_();
        } else if (*weights.shape(*found) != spec.shape) {
            wrong.push_back(*found + " (another shape)");
        } else {
            const at::Tensor values = at::empty(spec.shape, at::kFloat);
            weights.read(*found, values);
            weight.copy_(values);
        }
    }
    if (!wrong.empty())
        throw CheckpointError(
            concat(weights.file().string(), ": does not hold what its config.json says; missing or wrong: ", join(wrong)));
}

}  // namespace

bool is_hf_folder(const fs::path& folder) { return fs::exists(folder / "config.json") && !fs::exists(folder / complete_file); }

LoadedModel load_hf_model(const fs::path& folder, at::ScalarType working, at::Device device) {
    LoadedModel loaded;
    loaded.folder = folder;
    loaded.config = config_of(folder / "config.json");
    loaded.parameters = new_parameters(loaded.config, working, device);
    read_weights(WeightFile(folder), loaded);
    loaded.bert = std::make_unique<Bert>(loaded.config, *loaded.parameters, Bert::Choices{});
    if (fs::exists(folder / vocabulary_file)) loaded.vocabulary = folder / vocabulary_file;
    if (fs::exists(folder / "tokenizer_config.json"))
        loaded.cased = !read_json(folder / "tokenizer_config.json").value("do_lower_case", true);
    return loaded;
}

}  // namespace bertpretrain
