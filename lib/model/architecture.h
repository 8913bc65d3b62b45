#pragma once
// The door to the architectures, each of which has a folder here. The rest of the program names none of them: it holds a
// ModelConfig, asks these functions about it, and calls the Model that they make (model.h).

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "config/field.h"
#include "kernels/matmul_libraries.h"
#include "model/activation_shape.h"
#include "model/bert/config.h"
#include "model/flat_parameters.h"
#include "model/model.h"
#include "model/modern/modernbert_config.h"
#include "model/modern/neobert_config.h"
#include "model/parameter_table.h"
#include "model/stored_names.h"
#include "model/torchscript_source.h"

namespace bertpretrain {

enum class ModelType { bert, modernbert, neobert };
template <>
inline constexpr auto choice_names<ModelType> = choices("bert", "modernbert", "neobert");

/// The section "model" of an experiment: the architecture, and its own settings beside it.
struct ModelConfig {
    ModelType model_type = ModelType::bert;
    BertConfig bert;
    ModernBertConfig modernbert;
    NeoBertConfig neobert;

    /// Lists the settings of the architecture that model_type names.
    static void describe(auto& self, auto&& field) {
        field("model_type", self.model_type, any,
              "The architecture, under transformers' name; the other settings of this section are its own. bert is BERT, with "
              "LayerNorm where norm_placement says. modernbert has rotary positions, a gated feed-forward part, no biases, and "
              "local attention in most layers. neobert has them too, with RMSNorm, SwiGLU, a decoder of its own, and no local "
              "attention.");
        switch (self.model_type) {
            case ModelType::bert:
                return BertConfig::describe(self.bert, field);
            case ModelType::modernbert:
                return ModernBertConfig::describe(self.modernbert, field);
            case ModelType::neobert:
                return NeoBertConfig::describe(self.neobert, field);
        }
    }
    /// One of each architecture, with its defaults.
    static std::vector<ModelConfig> variants();
    std::string variant() const { return std::string(name_of(model_type)); }
};

/// Checks settings that depend on each other. @throws ConfigError naming the settings
void check_model(const ModelConfig& model);

ModelShape shape_of(const ModelConfig& model);
void set_vocab_size(ModelConfig& model, std::int64_t rows);
/// Whether the model has a pooler and a head for next sentences. Not a setting: it follows from data.objective, or from what a
/// file has. Does nothing for an architecture without such heads.
void set_next_sentence(ModelConfig& model, bool has);

/// Returns the shape in a line: "24 layers, hidden size 1024, ...".
std::string summary_of(const ModelConfig& model);

/// The parameter table: names, shapes, order, and what files and the optimizer do with each.
ModelParameters parameters_of(const ModelConfig& model);
/// Returns the layout of a model's flat buffers. @param bucket_mib of fp32 gradients @param shards as in ParameterLayout
ParameterLayout layout_of(const ModelConfig& model, double bucket_mib, std::int64_t shards);

/// Returns the floating point operations of a forward and backward pass: only matmuls, the MLM head on masked positions only,
/// without recomputation. Uses the common convention: 1 multiply-add = 2 operations, backward = 2 x forward.
/// @param tokens T of the batch @param square_lengths sum of squared sequence lengths
double model_flops(const ModelConfig& model, double tokens, double square_lengths, double masked, double sequences);
/// Returns the share of a pass's operations that each stage of the backward has (ModelParameters::stage_ends).
std::vector<double> stage_shares(const ModelConfig& model, double tokens_per_sequence, double masked_per_sequence);
/// Returns the peak memory of a pass in bytes, besides the parameters.
std::uint64_t activation_bytes(const ModelConfig& model, const ActivationShape& shape);
/// Returns every matmul of a Linear layer in a forward and backward pass, each shape once.
std::vector<LinearShape> matmuls_of(const ModelConfig& model);

/// Returns the model that transformers' config.json describes. @param file named in messages
/// @throws CheckpointError for another model_type, or fields that change what is computed and are not supported
/// @throws ConfigError for values that are not allowed
ModelConfig from_hugging_face(const nlohmann::json& json, const std::string& file);
/// Returns the content of config.json. @param task of the class, which follows the architecture's name: "ForMaskedLM"
nlohmann::ordered_json to_hugging_face(const ModelConfig& model, const std::string& task, std::int64_t padding_id);
/// Why no class of transformers computes this model; empty: one does.
std::string why_not_hugging_face(const ModelConfig& model);
/// Why NVIDIA's and Habana's scripts cannot read this model; empty: they can.
std::string why_not_nvidia(const ModelConfig& model);
/// The names of parameters in other programs' files.
const NamingRules& naming_rules(const ModelConfig& model);
/// The form of the files that `export --format hf` writes: stored_name(), and NamingRules::rows.
const NamingRules& exported_form(const ModelConfig& model);
/// Whether one of the names is that of some architecture's word embedding.
bool are_of_a_model(const std::vector<std::string>& names);
/// Returns a parameter's name, or a tied one's, in NVIDIA's and Habana's scripts; empty: they have no such parameter.
std::string nvidia_name(const ModelConfig& model, const std::string& ours);
/// The settings, besides model_type, that change what a model computes but not the shapes of its tensors.
std::span<const std::string_view> arithmetic_settings(const ModelConfig& model);
/// The settings of dropout that models of this type are pretrained with, so that 0 is unusual.
std::span<const std::string_view> pretraining_dropout(const ModelConfig& model);
/// @param has_heads whether the heads for pretraining are part of it
std::vector<TorchscriptModule> torchscript_of(const ModelConfig& model, bool has_heads);

/// @param parameters the weights, and the buffers that gradients are added to; must outlive the model
std::unique_ptr<Model> make_model(const ModelConfig& model, const FlatParameters& parameters, const ModelChoices& choices = {});

}  // namespace bertpretrain
