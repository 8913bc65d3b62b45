#include "config/weighted_paths.h"

#include <cmath>
#include <filesystem>
#include <set>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

constexpr const char* form = "{\"path\": FOLDER, \"weight\": NUMBER}";

std::string quoted(const nlohmann::json& value) { return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace); }

WeightedPath read_entry(const nlohmann::json& found, const std::string& where) {
    if (!found.is_object()) throw ConfigError(concat(where, " = ", quoted(found), ": must be ", form));
    for (const auto& [key, unused] : found.items())
        if (key != "path" && key != "weight") throw ConfigError(concat(where, ".", key, ": no such key; expected ", form));
    for (const char* key : {"path", "weight"})
        if (!found.contains(key)) throw ConfigError(concat(where, ": has no \"", key, "\"; expected ", form));
    const nlohmann::json &path = found.at("path"), &weight = found.at("weight");
    if (!path.is_string() || path.get<std::string>().empty())
        throw ConfigError(concat(where, ".path = ", quoted(path), ": must be a text that is not empty"));
    if (!weight.is_number() || !std::isfinite(weight.get<double>()) || weight.get<double>() < 0)
        throw ConfigError(concat(where, ".weight = ", quoted(weight), ": must be a number >= 0"));
    return {path.get<std::string>(), weight.get<double>()};
}

/// The path without what does not matter to the file system: "a//b/./" and "a/b" are the same.
std::filesystem::path plain(const std::string& path) { return (std::filesystem::path(path) / "").lexically_normal(); }

}  // namespace

WeightedPaths read_weighted_paths(const nlohmann::json& found, const std::string& where) {
    if (found.is_string()) {
        if (found.get<std::string>().empty()) throw ConfigError(concat(where, " = \"\": must be a text that is not empty"));
        return found.get<std::string>();
    }
    if (!found.is_array())
        throw ConfigError(concat(where, " = ", quoted(found), ": must be a text in double quotes, or a list of ", form,
                                 found.is_null() ? "; leave the key out to use its default" : ""));
    if (found.empty() || found.size() > WeightedPaths::most)
        throw ConfigError(concat(where, ": lists ", found.size(), " paths; must be a list of 1 to ", WeightedPaths::most));
    WeightedPaths read;
    std::set<std::filesystem::path> seen;
    double sum = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const WeightedPath& entry = read.paths.emplace_back(read_entry(found[i], concat(where, "[", i, "]")));
        if (!seen.insert(plain(entry.path)).second)
            throw ConfigError(concat(where, "[", i, "].path = ", quoted(entry.path),
                                     ": is listed twice; list it once, with the sum of both weights"));
        sum += entry.weight;
    }
    if (sum <= 0) throw ConfigError(concat(where, ": all weights are 0; set at least one above 0"));
    if (!std::isfinite(sum)) throw ConfigError(concat(where, ": the weights are too large to be added; use smaller ones"));
    if (read.paths.size() == 1) read.paths.front().weight = 1;
    return read;
}

nlohmann::ordered_json to_json(const WeightedPaths& paths) {
    if (paths.paths.size() < 2) return paths.first();
    auto list = nlohmann::ordered_json::array();
    for (const WeightedPath& entry : paths.paths) list.push_back({{"path", entry.path}, {"weight", entry.weight}});
    return list;
}

std::vector<std::pair<std::string, std::string>> share_lines(const WeightedPaths& paths) {
    std::vector<std::pair<std::string, std::string>> lines;
    if (paths.paths.size() < 2) return lines;
    double sum = 0;
    for (const WeightedPath& entry : paths.paths) sum += entry.weight;
    for (const WeightedPath& entry : paths.paths) lines.emplace_back(fixed(100 * entry.weight / sum, 3) + " %", entry.path);
    return lines;
}

}  // namespace bertpretrain
