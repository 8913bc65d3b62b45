#include "inference/hf_folder.h"

#include <cstring>
#include <string_view>

#include <ATen/ATen.h>

#include "archive/safetensors_reader.h"
#include "archive/safetensors_writer.h"
#include "core/error.h"
#include "core/files.h"
#include "inference/hf_tokenizer.h"
#include "model/bert_parameters.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

/// What follows "Bert" or "MegatronBert" in the name of transformers' class that has this model's parameters.
std::string class_of(const LoadedModel& model) {
    if (lacks_parameters(model, "cls.predictions.")) return "Model";
    const bool has_next_sentence = model.config.next_sentence && !lacks_parameters(model, "cls.seq_relationship.") &&
                                   !lacks_parameters(model, "bert.pooler.");
    return has_next_sentence ? "ForPreTraining" : "ForMaskedLM";
}

/// Returns a parameter's name in the class; "": the class does not have it.
std::string name_in_class(const std::string& of, const std::string& name) {
    constexpr std::string_view encoder = "bert.";
    if (of == "Model") return name.starts_with(encoder) ? name.substr(encoder.size()) : "";
    const bool is_extra = name.starts_with("bert.pooler.") || name.starts_with("cls.seq_relationship.");
    return of == "ForMaskedLM" && is_extra ? "" : name;
}

std::vector<SafetensorsTensor> tensors_of(const LoadedModel& model) {
    std::vector<SafetensorsTensor> tensors;
    const std::string written = class_of(model);
    for (const ParameterSpec& spec : bert_parameters(model.config).checkpoint_order) {
        const std::string name = name_in_class(written, spec.name);
        if (name.empty() || lacks_parameters(model, spec.name)) continue;
        const at::Tensor values = model.parameters->weight(spec.name);
        check(values.is_cpu() && values.is_contiguous() && values.scalar_type() == at::kFloat,
              "an export needs fp32 weights on the CPU");
        tensors.push_back({name, DType::f32, spec.shape, {static_cast<const std::byte*>(values.data_ptr()), values.nbytes()}});
    }
    return tensors;
}

/// A list of tokens has [PAD] first.
std::int32_t padding_id(const LoadedModel& model) {
    if (model.vocabulary.empty()) return 0;
    const Vocabulary vocabulary = Vocabulary::read(model.vocabulary);
    return vocabulary.has_own_rules() ? vocabulary.specials().pad : 0;
}

void copy_tokenizer_files(const fs::path& from, const fs::path& to) {
    for (const char* name : {"vocab.txt", "tokenizer.json", "tokenizer.model", "tokenizer_config.json", "special_tokens_map.json",
                             "added_tokens.json"})
        if (fs::exists(from / name)) write_atomically(to / name, read_file(from / name));
}

void read_back(const fs::path& file, const std::vector<SafetensorsTensor>& expected) {
    const SafetensorsReader reader(file);
    for (const SafetensorsTensor& right : expected) {
        const SafetensorsEntry* found = reader.find(right.name);
        const bool fits = found != nullptr && found->shape == right.shape && found->bytes == right.bytes.size();
        if (!fits || std::memcmp(reader.bytes(*found).data(), right.bytes.data(), right.bytes.size()) != 0)
            throw CheckpointError(concat(file.string(), ": ", right.name, " differs from what was written when read back"));
    }
}

}  // namespace

nlohmann::ordered_json hf_config(const LoadedModel& model) {
    const BertConfig& config = model.config;
    const std::string task = class_of(model);
    nlohmann::ordered_json json;
    switch (config.norm_placement) {
        case NormPlacement::post_ln:
            json = {{"architectures", {"Bert" + task}}, {"model_type", "bert"}};
            break;
        case NormPlacement::pre_ln:
            json = {{"architectures", {"MegatronBert" + task}}, {"model_type", "megatron-bert"}};
            break;
        case NormPlacement::pre_ln_zero_residual:
            json = {{"norm_placement", "pre_ln_zero_residual"}};
            break;
    }
    json.update({{"hidden_size", config.hidden_size},
                 {"num_hidden_layers", config.num_hidden_layers},
                 {"num_attention_heads", config.num_attention_heads},
                 {"intermediate_size", config.intermediate_size},
                 {"vocab_size", config.vocab_size},
                 {"max_position_embeddings", config.max_position_embeddings},
                 {"type_vocab_size", config.type_vocab_size},
                 {"hidden_act", name_of(config.hidden_act)},
                 {"hidden_dropout_prob", config.hidden_dropout_prob},
                 {"attention_probs_dropout_prob", config.attention_probs_dropout_prob},
                 {"layer_norm_eps", config.layer_norm_eps},
                 {"initializer_range", config.initializer_range},
                 {"pad_token_id", padding_id(model)},
                 {"position_embedding_type", "absolute"},
                 {"tie_word_embeddings", true}});
    return json;
}

bool copies_tokenizer_files(const LoadedModel& model) {
    return model.is_foreign && fs::exists(model.folder / "tokenizer_config.json");
}

void write_hf_folder(const LoadedModel& model, const fs::path& folder) {
    if (model.config.norm_placement == NormPlacement::pre_ln_zero_residual)
        throw ConfigError(
            "--format hf: transformers has no class for norm_placement pre_ln_zero_residual (BertForPreTraining would load the "
            "weights but compute something else)\n"
            "  do: use --format torchscript; Python runs its file with torch.jit.load");
    fs::create_directory(folder);
    write_atomically(folder / "config.json", hf_config(model).dump(2) + "\n");
    const std::vector<SafetensorsTensor> tensors = tensors_of(model);
    write_safetensors(folder / "model.safetensors", tensors);
    read_back(folder / "model.safetensors", tensors);
    if (model.vocabulary.empty()) return;
    if (copies_tokenizer_files(model)) return copy_tokenizer_files(model.folder, folder);
    const Vocabulary vocabulary = Vocabulary::read(model.vocabulary);
    const std::int64_t longest = model.config.max_position_embeddings;
    switch (vocabulary.kind()) {
        case TokenizerKind::token_list:
            return write_hf_tokenizer(folder, vocabulary, model.casing.value_or(Casing::uncased), longest);
        case TokenizerKind::tokenizer_json:
            return write_hf_tokenizer(folder, read_file(model.vocabulary), longest);
        case TokenizerKind::sentence_piece:
            return write_hf_sentence_pieces(folder, read_file(model.vocabulary), longest);
    }
}

}  // namespace bertpretrain
