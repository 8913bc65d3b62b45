#include "inference/sentence_folder.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files/files.h"
#include "inference/hf_folder.h"
#include "tokens/vocabulary/vocabulary_file.h"

namespace bertpretrain {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// modules.json with the names of modules that every version of sentence-transformers reads.
Json modules_json(bool normalizes) {
    Json modules = Json::array();
    const auto add = [&](const char* path, const char* type) {
        const std::size_t place = modules.size();
        modules.push_back({{"idx", place},
                           {"name", std::to_string(place)},
                           {"path", path},
                           {"type", concat("sentence_transformers.models.", type)}});
    };
    add("", "Transformer");
    add("1_Pooling", "Pooling");
    if (normalizes) add("2_Normalize", "Normalize");
    return modules;
}

/// Whether BertModel would add a pooler whose weights the folder lacks, and warn that it is new.
bool misses_pooler(const LoadedModel& model, const Json& config) {
    const bool has_class_a_pooler = config.at("model_type") == "bert" || config.at("model_type") == "megatron-bert";
    return has_class_a_pooler && (!shape_of(model.config).next_sentence || model.lacks(ModelPart::pooler));
}

Json transformer_json(const LoadedModel& model, const SentenceSettings& settings, const Json& config) {
    Json json = {{"max_seq_length", settings.max_length.value()}, {"do_lower_case", settings.lowers_first}};
    if (misses_pooler(model, config)) json["model_args"] = {{"add_pooling_layer", false}};
    return json;
}

Json pooling_json(const LoadedModel& model, const SentenceSettings& settings) {
    return {{"word_embedding_dimension", shape_of(model.config).hidden_size},
            {"pooling_mode_cls_token", settings.pooling == "cls"},
            {"pooling_mode_mean_tokens", settings.pooling == "mean"},
            {"pooling_mode_max_tokens", false},
            {"pooling_mode_mean_sqrt_len_tokens", false}};
}

Json model_json(const SentenceSettings& settings) {
    Json prompts = Json::object();
    if (!settings.prompt.empty()) prompts["default"] = settings.prompt;
    return {{"prompts", prompts},
            {"default_prompt_name", settings.prompt.empty() ? Json() : Json("default")},
            {"similarity_fn_name", "cosine"}};
}

void refuse_unreadable(const LoadedModel& model) {
    const auto refuse = [](const std::string& why) { throw ConfigError(concat("--format sentence-transformers: ", why)); };
    if (const std::string why = why_not_hugging_face(model.config); !why.empty())
        refuse(concat(why, "\n  do: use --format torchscript; Python runs its file with torch.jit.load"));
    if (const Json config = hf_config(model); config.at("model_type") == "neobert")
        refuse("NeoBERT's class is not part of transformers\n  do: use --format hf, which its authors' class reads, or embed");
    if (model.vocabulary.empty()) refuse(no_tokenizer_in(model.folder, "one of which a sentence-transformers folder needs"));
}

}  // namespace

SentenceSettings decide_sentence_settings(const LoadedModel& model, const std::string& vectors, std::optional<bool> normalize,
                                          std::optional<std::int64_t> tokenizer_length) {
    SentenceSettings settings = read_sentence_settings(model.folder).value_or(SentenceSettings{});
    if (vectors.empty() && settings.pooling != "mean" && settings.pooling != "cls")
        throw ConfigError(concat(model.folder.string(), ": its sentence-transformers model pools by ", settings.pooling,
                                 ", which is not supported\n  do: choose the vectors with --vectors"));
    if (!vectors.empty()) settings.pooling = vectors;
    settings.normalizes = normalize.value_or(settings.normalizes);
    if (!settings.max_length) settings.max_length = tokenizer_length.value_or(trained_length(model));
    settings.max_length = std::min(*settings.max_length, shape_of(model.config).longest_sequence);
    return settings;
}

void write_sentence_folder(const LoadedModel& model, const SentenceSettings& settings, const fs::path& folder) {
    refuse_unreadable(model);
    write_hf_folder(model, folder, HfParts::encoder);
    const auto write = [&](const char* name, const Json& json) {
        const fs::path file = folder / name;
        fs::create_directories(file.parent_path());
        write_atomically(file, json.dump(2) + "\n");
    };
    write("modules.json", modules_json(settings.normalizes));
    write("sentence_bert_config.json", transformer_json(model, settings, hf_config(model, HfParts::encoder)));
    write("1_Pooling/config.json", pooling_json(model, settings));
    if (settings.normalizes) write("2_Normalize/config.json", Json::object());
    write("config_sentence_transformers.json", model_json(settings));
    const SentenceSettings found = read_sentence_settings(folder).value();
    if (found.max_length != settings.max_length || found.pooling != settings.pooling || found.normalizes != settings.normalizes ||
        found.lowers_first != settings.lowers_first || found.prompt != settings.prompt)
        throw CheckpointError(concat(folder.string(), ": its settings for sentence-transformers differ when read back"));
}

}  // namespace bertpretrain
