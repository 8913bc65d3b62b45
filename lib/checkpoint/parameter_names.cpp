#include "checkpoint/parameter_names.h"

namespace bertpretrain {

std::string hugging_face_name(std::string_view name) {
    constexpr std::string_view module = "module.";
    while (name.starts_with(module)) name.remove_prefix(module.size());
    std::string known(name);
    for (const std::string_view part : {"embeddings.", "encoder.", "pooler."})
        if (name.starts_with(part)) known = "bert." + known;
    if (const std::size_t at = known.find(".dense_act."); at != std::string::npos) known.replace(at, 11, ".dense.");
    if (known.ends_with(".gamma")) known.replace(known.size() - 6, 6, ".weight");
    if (known.ends_with(".beta")) known.replace(known.size() - 5, 5, ".bias");
    return known;
}

std::string nvidia_name(std::string_view hugging_face_name) {
    std::string name(hugging_face_name);
    for (const std::string_view dense : {"intermediate.dense.", "pooler.dense.", "transform.dense."})
        if (const std::size_t at = name.find(dense); at != std::string::npos) name.insert(at + dense.size() - 1, "_act");
    return name;
}

bool is_derived_buffer(std::string_view name) {
    return name.ends_with("embeddings.position_ids") || name.ends_with("embeddings.token_type_ids");
}

}  // namespace bertpretrain
