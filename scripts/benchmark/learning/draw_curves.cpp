// Reads {"title", "x", "y", "lines": {name: [[x, y], ...]}, "levels": {name: y}} from standard input, writes SVG to standard
// output.
#include <iostream>

#include <nlohmann/json.hpp>

#include "telemetry/chart.h"

using namespace bertpretrain;

int main() {
    const auto wanted = nlohmann::ordered_json::parse(std::cin);
    Chart chart{wanted.at("title"), wanted.at("x"), wanted.at("y"), {}, {}};
    const std::vector<std::string> colors{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e",
                                          "#8c564b", "#e377c2", "#17becf", "#bcbd22"};
    for (const auto& [name, points] : wanted.at("lines").items())
        chart.lines.push_back({name, colors[chart.lines.size() % colors.size()], points, 1.5, true});
    for (const auto& [name, y] : wanted.at("levels").items()) chart.levels.push_back({name, y});
    std::cout << svg_text(chart);
}
