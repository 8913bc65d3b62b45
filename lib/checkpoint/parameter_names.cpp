#include "checkpoint/parameter_names.h"

#include <algorithm>
#include <array>

namespace bertpretrain {
namespace {

/// Names of modules that wrap another one: DataParallel, DDP and DeepSpeed; torch.compile; Lightning's Fabric; FSDP; activation
/// checkpointing.
constexpr std::array<std::string_view, 5> wrappers{"module.", "_orig_mod.", "_forward_module.", "_fsdp_wrapped_module.",
                                                   "_checkpoint_wrapped_module."};

/// Architectures whose parameters are named as BERT's after this word, but which compute something else.
constexpr std::array<std::string_view, 20> other_models{"albert",  "convbert",   "data2vec_text", "deberta",  "distilbert",
                                                        "electra", "ernie",      "esm",           "ibert",    "layoutlm",
                                                        "lilt",    "longformer", "mobilebert",    "mpnet",    "nezha",
                                                        "rembert", "roberta",    "roformer",      "splinter", "squeezebert"};

std::string without_wrappers(std::string_view name) {
    std::string kept;
    while (!name.empty()) {
        const std::size_t end = std::min(name.find('.'), name.size() - 1) + 1;
        if (const std::string_view part = name.substr(0, end); std::ranges::find(wrappers, part) == wrappers.end()) kept += part;
        name.remove_prefix(end);
    }
    return kept;
}

}  // namespace

std::vector<NamePrefix> name_prefixes(const std::vector<std::string>& names) {
    constexpr std::string_view word_embedding = "embeddings.word_embeddings.weight", bert = "bert.";
    std::vector<NamePrefix> found;
    for (const std::string& name : names) {
        NamePrefix prefix{without_wrappers(name)};
        if (!prefix.text.ends_with(word_embedding)) continue;
        prefix.text.resize(prefix.text.size() - word_embedding.size());
        if (!prefix.text.empty() && !prefix.text.ends_with('.')) continue;
        prefix.has_bert = prefix.text == bert || prefix.text.ends_with(".bert.");
        if (prefix.has_bert) prefix.text.resize(prefix.text.size() - bert.size());
        if (std::ranges::find(found, prefix.text, &NamePrefix::text) == found.end()) found.push_back(prefix);
    }
    return found;
}

bool is_of_other_model(const NamePrefix& prefix) {
    if (prefix.has_bert || prefix.text.empty()) return false;
    const std::string_view text = std::string_view(prefix.text).substr(0, prefix.text.size() - 1);
    return std::ranges::find(other_models, text.substr(text.rfind('.') + 1)) != other_models.end();
}

std::string hugging_face_name(std::string_view stored_name, const NamePrefix& prefix) {
    std::string name = without_wrappers(stored_name);
    if (name.starts_with(prefix.text)) name.erase(0, prefix.text.size());
    if (!prefix.has_bert)
        for (const std::string_view part : {"embeddings.", "encoder.", "pooler."})
            if (name.starts_with(part)) {
                name.insert(0, "bert.");
                break;
            }
    if (const std::size_t at = name.find(".dense_act."); at != std::string::npos) name.replace(at, 11, ".dense.");
    if (name.ends_with(".gamma")) name.replace(name.size() - 6, 6, ".weight");
    if (name.ends_with(".beta")) name.replace(name.size() - 5, 5, ".bias");
    return name;
}

std::string nvidia_name(std::string_view hugging_face_name) {
    std::string name(hugging_face_name);
    for (const std::string_view dense : {"intermediate.dense.", "pooler.dense.", "transform.dense."})
        if (const std::size_t at = name.find(dense); at != std::string::npos) name.insert(at + dense.size() - 1, "_act");
    return name;
}

bool is_head_parameter(std::string_view hugging_face_name) {
    return hugging_face_name.starts_with("cls.") || hugging_face_name.starts_with("bert.pooler.");
}

bool is_derived_buffer(std::string_view name) {
    return name.ends_with("embeddings.position_ids") || name.ends_with("embeddings.token_type_ids");
}

}  // namespace bertpretrain
