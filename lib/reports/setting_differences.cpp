#include "reports/setting_differences.h"

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "core/concat.h"
#include "core/files/files.h"
#include "core/strings.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {
namespace {

using Values = std::map<std::string, std::string>;  // by the setting's path

/// Adds the values of an object's members; a list is one value.
void add_values(const nlohmann::json& object, const std::string& prefix, Values& values) {
    for (const auto& [name, value] : object.items()) {
        const std::string path = prefix.empty() ? name : prefix + "." + name;
        if (value.is_object()) add_values(value, path, values);
        else values[path] = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    }
}

/// Returns nothing for a folder whose settings cannot be read.
Values values_in(const std::filesystem::path& folder) {
    Values values;
    try {
        add_values(nlohmann::json::parse(read_file(RunPaths(folder).settings())), "", values);
    } catch (const std::exception&) { values.clear(); }
    return values;
}

/// A setting that is not the same in all phases of a run has a value for each: "PHASE.setting".
Values values_of(const RunHistory& run) {
    Values all;
    std::map<std::string, std::set<std::string>> different;  // values by setting
    for (const std::filesystem::path& part : run.parts)
        for (const auto& [path, value] : values_in(part)) different[path].insert(value);
    for (const std::filesystem::path& part : run.parts)
        for (const auto& [path, value] : values_in(part))
            all[different[path].size() == 1 ? path : concat(part.filename().string(), ".", path)] = value;
    return all;
}

}  // namespace

std::vector<std::vector<std::string>> setting_differences(const std::vector<RunHistory>& runs) {
    std::vector<Values> all;
    Values paths;
    std::vector<std::vector<std::string>> rows{{"setting"}};
    for (const RunHistory& run : runs) {
        rows.front().push_back(run.name);
        all.push_back(values_of(run));
        paths.insert(all.back().begin(), all.back().end());
    }
    for (const auto& [path, value] : paths) {
        std::vector<std::string> row{path};
        for (const Values& values : all) row.push_back(values.contains(path) ? values.at(path) : "-");
        if (std::any_of(row.begin() + 1, row.end(), [&](const std::string& one) { return one != row[1]; })) rows.push_back(row);
    }
    return rows;
}

std::vector<std::vector<std::string>> shortened_rows(std::vector<std::vector<std::string>> rows) {
    for (auto& row : rows)
        for (std::string& cell : row) cell = shortened(cell);
    return rows;
}

}  // namespace bertpretrain
