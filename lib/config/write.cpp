#include "config/write.h"

#include <algorithm>
#include <sstream>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/output/table.h"
#include "core/strings.h"

namespace bertpretrain::detail {
namespace {

using nlohmann::ordered_json;

ordered_json value_json(const Setting& setting) {
    const SettingValue& value = setting.value;
    if (setting.rule.zero_is_auto && value == SettingValue(std::int64_t{0})) return "auto";
    return std::visit(
        [](const auto& typed) -> ordered_json {
            using Value = std::remove_cvref_t<decltype(typed)>;
            if constexpr (std::is_same_v<Value, std::optional<std::int64_t>>)
                return typed ? ordered_json(*typed) : ordered_json("auto");
            else if constexpr (std::is_same_v<Value, WeightedPaths>) return bertpretrain::to_json(typed);
            else if constexpr (requires { typed.has_value(); }) return typed ? ordered_json(*typed) : ordered_json();
            else return typed;
        },
        value);
}

std::string value_text(const Setting& setting) {
    return value_json(setting).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string type_text(const Setting& setting) {
    if (setting.rule.zero_is_auto) return "\"auto\" or integer";
    static constexpr const char* names[] = {"true or false",
                                            "integer",
                                            "integer",
                                            "number",
                                            "text",
                                            "text or null",
                                            "list of numbers",
                                            "list of texts",
                                            "\"auto\" or integer",
                                            "text, or list of {\"path\", \"weight\"}"};
    static_assert(std::size(names) == std::variant_size_v<SettingValue>);
    return names[setting.value.index()];
}

std::string allowed_text(const Setting& setting) {
    const std::string rule = setting.rule.text();
    if (!setting.rule.choices.empty()) return rule;
    return type_text(setting) + (rule.empty() ? "" : " " + rule);
}

/// The text as a cell of a table in Markdown.
std::string cell(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (std::string_view("|<*").find(c) != std::string_view::npos) escaped += '\\';
        escaped += c;
    }
    return escaped;
}

}  // namespace

ordered_json to_json(const std::vector<Setting>& settings) {
    ordered_json out = ordered_json::object();
    for (const Setting& setting : settings) {
        ordered_json* at = &out;
        std::istringstream names(setting.path);
        for (std::string name; std::getline(names, name, '.');) at = &(*at)[name];
        *at = setting.is_section ? ordered_json::object() : value_json(setting);
    }
    return out;
}

/// The heading of a section.
std::string_view resume_text(Resume resume) {
    constexpr std::string_view texts[] = {"fixed", "may change", "only the path may change"};
    return texts[static_cast<std::size_t>(resume)];
}

std::string title_of(const Setting& section) {
    return section.variant.empty() ? section.path : concat(section.path, " (", section.variant, ")");
}

/// The value for a table, and lines to stand below it.
std::string value_and_lines(const Setting& setting, std::vector<std::pair<std::string, std::string>>& lines) {
    const auto* paths = std::get_if<WeightedPaths>(&setting.value);
    lines = paths != nullptr ? share_lines(*paths) : std::vector<std::pair<std::string, std::string>>{};
    return lines.empty() ? shortened(value_text(setting)) : concat(lines.size(), " paths with weights:");
}

std::string settings_table(const std::vector<Setting>& settings, const std::vector<Setting>& defaults, Show show) {
    Table table({"setting", "value", show == Show::all ? "" : "default"});
    std::size_t at_default = 0;
    for (const Setting& setting : settings) {
        if (setting.is_section) continue;
        const Setting& usual = *std::ranges::find_if(defaults, [&](const Setting& one) {
            return one.path == setting.path && one.variant == setting.variant && !one.is_section;
        });
        const bool is_default = setting.value == usual.value;
        at_default += is_default ? 1 : 0;
        if (is_default && show == Show::changed) continue;
        const bool has_usual = show == Show::changed && !usual.rule.is_required;
        std::vector<std::pair<std::string, std::string>> lines;
        const std::string value = value_and_lines(setting, lines);
        table.add({setting.path, value,
                   has_usual                         ? shortened(value_text(usual))
                   : show == Show::all && is_default ? "default"
                                                     : ""});
        for (const auto& [share, path] : lines) table.add({"  " + share, path, ""});
    }
    if (show == Show::all || at_default == 0) return table.text();
    return table.text() + concat(at_default, " other settings have their defaults; settings.json in the run's folder has all\n");
}

std::string explain_settings(const std::vector<Setting>& defaults, const KnownNames& names, const std::string& which,
                             std::size_t width) {
    const auto is_it = [&](const Setting& setting) { return setting.path == which; };
    if (!which.empty() && std::none_of(defaults.begin(), defaults.end(), is_it)) {
        const std::string guess = names.advice_on_path(which);
        throw ConfigError(concat(which, ": no such setting", guess.empty() ? "" : "; " + guess));
    }
    std::string text;
    for (const Setting& setting : defaults) {
        if (!which.empty() && setting.path != which && !setting.path.starts_with(which + ".")) continue;
        if (setting.is_section) {
            text += concat(text.empty() ? "" : "\n", wrapped(concat(title_of(setting), ": ", setting.meaning), width, 0, 4));
            continue;
        }
        const std::string facts =
            concat(setting.path, " (", setting.rule.is_required ? "required" : "default " + value_text(setting), "; ",
                   allowed_text(setting), "; ", resume_text(setting.resume), " on resume)");
        text += wrapped(facts, width, 2, 6) + wrapped(setting.meaning, width, 6, 6);
    }
    return text;
}

std::string settings_page(const std::vector<Setting>& defaults) {
    std::string text =

        "# Settings\n\nEvery setting of an experiment's file, as `bertpretrain config explain --markdown` prints this page. "
        "`--set section.key=value` sets one for a command. A run that resumes must keep those that are fixed.\n";
    bool in_table = false;
    for (const Setting& setting : defaults) {
        if (setting.is_section) text += concat("\n## ", title_of(setting), "\n\n", cell(setting.meaning), "\n");
        else if (!in_table) text += "\n| setting | default | allowed values | on resume | meaning |\n|---|---|---|---|---|\n";
        in_table = !setting.is_section;
        if (setting.is_section) continue;
        text +=
            concat("| `", setting.path, "` | ", setting.rule.is_required ? "required" : concat("`", value_text(setting), "`"),
                   " | ", cell(allowed_text(setting)), " | ", resume_text(setting.resume), " | ", cell(setting.meaning), " |\n");
    }
    return text;
}

std::vector<Difference> compare_settings(const std::vector<Setting>& a, const std::vector<Setting>& b) {
    const auto in = [](const std::vector<Setting>& list, const Setting& wanted) {
        const auto found = std::ranges::find(list, wanted.path, &Setting::path);
        return found == list.end() ? nullptr : &*found;
    };
    constexpr const char* absent = "(none)";  // another variant of the section has the setting
    std::vector<Difference> differences;
    for (const Setting& of_a : a) {
        if (of_a.is_section) continue;
        const Setting* of_b = in(b, of_a);
        if (of_b == nullptr || of_a.value != of_b->value)
            differences.push_back(
                {of_a.path, value_text(of_a), of_b == nullptr ? absent : value_text(*of_b), of_a.resume != Resume::fixed});
    }
    for (const Setting& of_b : b)
        if (in(a, of_b) == nullptr) differences.push_back({of_b.path, absent, value_text(of_b), of_b.resume != Resume::fixed});
    return differences;
}

}  // namespace bertpretrain::detail
