#include "model/stored_names.h"

#include <algorithm>
#include <array>

namespace bertpretrain {
namespace {

/// Names of modules that wrap another one: DataParallel, DDP and DeepSpeed; torch.compile; Lightning's Fabric; FSDP; activation
/// checkpointing.
constexpr std::array<std::string_view, 5> wrappers{"module.", "_orig_mod.", "_forward_module.", "_fsdp_wrapped_module.",
                                                   "_checkpoint_wrapped_module."};

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

const NamingRules& form_of(const NamingRules& first, std::string_view model_type, const std::vector<std::string>& names) {
    for (const NamingRules* form = &first; form != nullptr; form = form->other_form) {
        const bool has_type = std::ranges::find(form->model_types, model_type) != form->model_types.end();
        const bool has_base = model_type.empty() && std::ranges::any_of(name_prefixes(*form, names), &NamePrefix::has_base);
        if (has_type || has_base) return *form;
    }
    return first;
}

std::vector<NamePrefix> name_prefixes(const NamingRules& rules, const std::vector<std::string>& names) {
    std::string inside = ".";
    inside += rules.base;
    std::vector<NamePrefix> found;
    for (const std::string& name : names) {
        NamePrefix prefix{without_wrappers(name)};
        if (!prefix.text.ends_with(rules.word_embedding)) continue;
        prefix.text.resize(prefix.text.size() - rules.word_embedding.size());
        if (!prefix.text.empty() && !prefix.text.ends_with('.')) continue;
        prefix.has_base = prefix.text == rules.base || prefix.text.ends_with(inside);
        if (prefix.has_base) prefix.text.resize(prefix.text.size() - rules.base.size());
        if (std::ranges::find(found, prefix.text, &NamePrefix::text) == found.end()) found.push_back(prefix);
    }
    return found;
}

bool is_of_other_model(const NamingRules& rules, const NamePrefix& prefix) {
    if (prefix.has_base || prefix.text.empty()) return false;
    const std::string_view text = std::string_view(prefix.text).substr(0, prefix.text.size() - 1);
    return std::ranges::find(rules.other_models, text.substr(text.rfind('.') + 1)) != rules.other_models.end();
}

std::string our_name(const NamingRules& rules, std::string_view stored, const NamePrefix& prefix) {
    std::string name = without_wrappers(stored);
    if (name.starts_with(prefix.text)) name.erase(0, prefix.text.size());
    const auto begins_name = [&](std::string_view part) { return name.starts_with(part); };
    if (!prefix.has_base && std::ranges::any_of(rules.encoder_parts, begins_name)) name.insert(0, rules.base);
    for (const auto& [theirs, ours] : rules.other_parts)
        if (const std::size_t at = name.find(theirs); at != std::string::npos) name.replace(at, theirs.size(), ours);
    for (const auto& [theirs, ours] : rules.other_endings)
        if (name.ends_with(theirs)) name.replace(name.size() - theirs.size(), theirs.size(), ours);
    return name;
}

std::string stored_name(const NamingRules& form, std::string ours) {
    for (const auto& [theirs, part] : form.other_parts)
        if (const std::size_t at = ours.find(part); at != std::string::npos) ours.replace(at, part.size(), theirs);
    return ours;
}

bool is_derived_buffer(const NamingRules& rules, std::string_view name) {
    return std::ranges::any_of(rules.derived, [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace bertpretrain
