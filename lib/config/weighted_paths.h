#pragma once
// A setting that names one path, or several with weights.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace bertpretrain {

struct WeightedPath {
    std::string path;
    double weight = 1;  ///< relative to the sum of all weights; 0 or more

    bool operator==(const WeightedPath&) const = default;
};

/// One path, which a file gives as a text; or several, which it gives as a list of {"path": ..., "weight": ...}. A list of one
/// path equals its text.
struct WeightedPaths {
    static constexpr std::size_t most = 1000;

    std::vector<WeightedPath> paths;

    WeightedPaths() = default;
    WeightedPaths(std::string path) { paths.push_back({std::move(path), 1}); }
    WeightedPaths(const char* path) : WeightedPaths(std::string(path)) {}

    /// The first path; "" if there is none.
    std::string first() const { return paths.empty() ? "" : paths.front().path; }
    bool operator==(const WeightedPaths&) const = default;
};

/// Reads a text or a list.
/// @param where "FILE: section.key", the beginning of every message
/// @throws ConfigError for another type, an unknown or missing key, no or too many paths, a path that is empty or listed twice, a
///         weight below 0, or weights that are all 0
WeightedPaths read_weighted_paths(const nlohmann::json& found, const std::string& where);

/// The inverse: a text for one path, else a list. An empty text for none.
nlohmann::ordered_json to_json(const WeightedPaths& paths);

/// Lines for people, one per path: {share in percent, path}. Empty for a single path.
std::vector<std::pair<std::string, std::string>> share_lines(const WeightedPaths& paths);

}  // namespace bertpretrain
