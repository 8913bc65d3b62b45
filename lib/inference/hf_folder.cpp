#include "inference/hf_folder.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <ATen/ATen.h>

#include "archive/safetensors_reader.h"
#include "archive/safetensors_writer.h"
#include "core/error.h"
#include "core/files/files.h"
#include "core/output/log.h"
#include "inference/hf_tokenizer.h"
#include "tokens/definition/folder_files.h"
#include "tokens/models/folder_tokenizer.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace fs = std::filesystem;

namespace {

/// What follows the architecture in the name of transformers' class that has this model's parameters.
std::string task_of(const LoadedModel& model, HfParts parts) {
    if (parts == HfParts::encoder || model.lacks(ModelPart::masked_words_head)) return "Model";
    const bool has_next_sentence =
        shape_of(model.config).next_sentence && !model.lacks(ModelPart::next_sentences_head) && !model.lacks(ModelPart::pooler);
    return has_next_sentence ? "ForPreTraining" : "ForMaskedLM";
}

/// Returns a parameter's name in the class; "": the class does not have it.
std::string name_in_class(const std::string& task, const ParameterSpec& spec, const NamingRules& form) {
    const std::string name = stored_name(form, spec.name);
    const bool is_of_encoder = spec.part == ModelPart::encoder || spec.part == ModelPart::pooler;
    if (task == "Model") return is_of_encoder ? name.substr(form.base.size()) : "";
    const bool is_extra = spec.part == ModelPart::pooler || spec.part == ModelPart::next_sentences_head;
    return task == "ForMaskedLM" && is_extra ? "" : name;
}

/// Returns the rows of a parameter in the places where the class has them; the same tensor if it has them there.
at::Tensor in_stored_order(const NamingRules& form, const ParameterSpec& spec, const at::Tensor& values, std::int64_t heads) {
    const auto rule =
        std::ranges::find_if(form.rows, [&](const StoredRows& rows) { return spec.name.ends_with(rows.parameter); });
    if (rule == form.rows.end()) return values;
    const at::Tensor places = at::empty({values.size(0)}, at::kLong);
    for (std::int64_t i = 0; i < values.size(0); ++i)
        places.mutable_data_ptr<std::int64_t>()[i] = rule->place(i, values.size(0), heads);
    return at::empty_like(values).index_copy_(0, places, values);
}

/// The weights of a file, and the memory of those that are not the model's own.
struct StoredTensors {
    std::vector<SafetensorsTensor> tensors;
    std::vector<at::Tensor> memory;
};

StoredTensors tensors_of(const LoadedModel& model, HfParts parts) {
    StoredTensors stored;
    const std::string task = task_of(model, parts);
    const NamingRules& form = exported_form(model.config);
    for (const ParameterSpec& spec : parameters_of(model.config).checkpoint_order) {
        if (model.lacks(spec.name)) continue;
        const std::string name = name_in_class(task, spec, form);
        if (name.empty()) continue;
        const at::Tensor values =
            in_stored_order(form, spec, model.parameters->weight(spec.name), shape_of(model.config).num_attention_heads);
        check(values.is_cpu() && values.is_contiguous() && values.scalar_type() == at::kFloat,
              "an export needs fp32 weights on the CPU");
        stored.memory.push_back(values);
        stored.tensors.push_back(
            {name, DType::f32, spec.shape, {static_cast<const std::byte*>(values.data_ptr()), values.nbytes()}});
    }
    return stored;
}

/// A list of tokens has [PAD] first.
std::int32_t padding_id(const LoadedModel& model) {
    if (model.vocabulary.empty()) return 0;
    const Vocabulary vocabulary = Vocabulary::read(model.vocabulary);
    return vocabulary.has_own_rules() ? vocabulary.specials().pad : 0;
}

/// Adds the casing that `embed` finds in the vocabulary, where no file records one.
void add_casing(const FolderTokenizer& tokenizer, TokenizerFiles::Json& config) {
    const auto* const model = std::get_if<WordPieceModel>(&tokenizer.definition.model);
    if (tokenizer.records_casing || model == nullptr) return;
    config["do_lower_case"] = model->casing == Casing::uncased || model->casing == Casing::uncased_with_accents;
    config["strip_accents"] = model->casing == Casing::uncased || model->casing == Casing::cased_without_accents;
}

/// Copies the files, and names in tokenizer_config.json what AutoTokenizer would take from elsewhere: the class, because an
/// export's config.json may have another model_type than the source's, and the casing.
void copy_tokenizer_files(const LoadedModel& model, const fs::path& to) {
    const fs::path& from = model.folder;
    for (const char* name : folder_tokenizer_files)
        if (fs::exists(from / name))
            write_atomically(to / name, name == token_list_name ? carried_content(from / name) : read_file(from / name));
    const TokenizerFiles files(from);
    const bool lacks_casing =
        token_file_in_model_folder(from).filename() == token_list_name && !files.config().contains("do_lower_case");
    const std::string named = files.text("tokenizer_class", "");
    if (!named.empty() && named == files.tokenizer_class() && !lacks_casing) return;
    const FolderTokenizer tokenizer = read_folder_tokenizer(from, model.casing == Casing::cased).value();
    TokenizerFiles::Json config = files.config();
    if (!tokenizer.class_name.empty()) config["tokenizer_class"] = tokenizer.class_name;
    add_casing(tokenizer, config);
    write_atomically(to / "tokenizer_config.json", config.dump(2) + "\n");
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

nlohmann::ordered_json hf_config(const LoadedModel& model, HfParts parts) {
    return to_hugging_face(model.config, task_of(model, parts), padding_id(model));
}

bool copies_tokenizer_files(const LoadedModel& model) {
    if (!model.is_foreign || model.vocabulary.empty()) return false;
    return fs::exists(model.folder / "tokenizer_config.json") || !read_folder_tokenizer(model.folder).value().class_name.empty();
}

void write_hf_folder(const LoadedModel& model, const fs::path& folder, HfParts parts) {
    if (const std::string why = why_not_hugging_face(model.config); !why.empty())
        throw ConfigError(
            concat("--format hf: ", why, "\n  do: use --format torchscript; Python runs its file with torch.jit.load"));
    fs::create_directory(folder);
    write_atomically(folder / "config.json", hf_config(model, parts).dump(2) + "\n");
    const StoredTensors stored = tensors_of(model, parts);
    write_safetensors(folder / "model.safetensors", stored.tensors);
    read_back(folder / "model.safetensors", stored.tensors);
    if (model.vocabulary.empty()) return log_warning(no_tokenizer_in(model.folder, "so the export has no tokenizer either"));
    if (copies_tokenizer_files(model)) return copy_tokenizer_files(model, folder);
    const Vocabulary vocabulary = Vocabulary::read(model.vocabulary);
    const std::int64_t longest = trained_length(model);
    switch (vocabulary.kind()) {
        case TokenizerKind::token_list:
            return write_hf_tokenizer(folder, vocabulary, model.casing.value_or(Casing::uncased), longest);
        case TokenizerKind::tokenizer_json:
            return write_hf_tokenizer(folder, read_file(model.vocabulary), longest);
        case TokenizerKind::sentence_piece:
            if (model.config.model_type == ModelType::modernbert)
                log_warning(
                    concat("AutoTokenizer of transformers 5 takes one class for every ModernBERT, which gives other ids from ",
                           "a SentencePiece model\n  do: load the tokenizer with SentencePieceBackend.from_pretrained"));
            return write_hf_sentence_pieces(folder, read_file(model.vocabulary), longest);
    }
}

}  // namespace bertpretrain
