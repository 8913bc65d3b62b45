#pragma once
// Names the rows of a step in an event.

#include <cstddef>

#include <nlohmann/json.hpp>

namespace bertpretrain {

/// The first rows of a step, and how many there are: a step may have tens of thousands.
inline void add_rows(nlohmann::ordered_json& details, const auto& rows_by_file) {
    constexpr std::size_t most_rows = 20;
    std::size_t all = 0, named = 0;
    for (const auto& [file, rows] : rows_by_file) {
        all += rows.size();
        for (std::size_t i = 0; i < rows.size() && named < most_rows; ++i, ++named)
            details["rows"][file.string()].push_back(rows[i]);
    }
    details["rows_in_all"] = all;
}

}  // namespace bertpretrain
