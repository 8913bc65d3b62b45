#include "plan/run_plan.h"

#include <algorithm>

#include "config/write.h"
#include "core/output/table.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

auto find(auto& values, const std::string& path) {
    return std::find_if(values.begin(), values.end(), [&](const PlannedValue& value) { return value.path == path; });
}

}  // namespace

std::string_view name_of(Origin origin) {
    switch (origin) {
        case Origin::default_value:
            return "default";
        case Origin::file:
            return "file";
        case Origin::command_line:
            return "--set";
        case Origin::init_from:
            return "init_from";
        case Origin::checkpoint:
            return "checkpoint";
        case Origin::environment:
            return "environment";
        case Origin::automatic:
            return "auto";
    }
    return "";
}

void RunPlan::decide(const std::string& path, nlohmann::ordered_json value, Origin origin, std::string reason) {
    PlannedValue made{path, std::move(value), origin, std::move(reason)};
    const auto found = find(decided, path);
    if (found == decided.end()) decided.push_back(std::move(made));
    else *found = std::move(made);
}

std::vector<PlannedValue> RunPlan::values() const {
    std::vector<PlannedValue> all;
    const nlohmann::ordered_json asked = write_config(settings);
    for (const Setting& setting : list_settings(settings)) {
        if (setting.is_section) continue;
        const auto origin = origins.find(setting.path);
        std::string place = "/" + setting.path;
        std::ranges::replace(place, '.', '/');
        all.push_back({setting.path, asked.at(nlohmann::ordered_json::json_pointer(place)),
                       origin == origins.end() ? Origin::default_value : origin->second, ""});
    }
    for (const PlannedValue& value : decided) {
        const auto found = find(all, value.path);
        if (found == all.end()) all.push_back(value);
        else *found = value;
    }
    return all;
}

RowFormat row_format(const RunPlan& plan) {
    const ModelShape model = shape_of(plan.settings.model);
    return {plan.settings.data.sequence_length, model.longest_sequence, model.vocab_size, model.next_sentence,
            plan.data.document_end};
}

nlohmann::ordered_json to_json(const RunPlan& plan) {
    nlohmann::ordered_json json;
    for (const PlannedValue& value : plan.values()) {
        const std::size_t dot = value.path.find('.');
        nlohmann::ordered_json& section = dot == std::string::npos ? json : json[value.path.substr(0, dot)];
        nlohmann::ordered_json& entry = section[dot == std::string::npos ? value.path : value.path.substr(dot + 1)];
        entry = {{"value", value.value}, {"origin", name_of(value.origin)}};
        if (!value.reason.empty()) entry["reason"] = value.reason;
    }
    return json;
}

std::string resolved_table(const RunPlan& plan) {
    Table table({"setting", "value", "origin", "reason"});
    for (const PlannedValue& value : plan.values())
        table.add({value.path, shortened(value.value.dump()), std::string(name_of(value.origin)), value.reason});
    return table.text();
}

}  // namespace bertpretrain
