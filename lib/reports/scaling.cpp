#include "reports/scaling.h"

#include <algorithm>

#include "core/strings.h"

namespace bertpretrain {

std::vector<ScalingPoint> scaling_points(const std::vector<RunHistory>& runs) {
    std::vector<ScalingPoint> points;
    for (const RunHistory& run : runs) points.push_back({run.name, run.sessions.back().ranks, steady_rate(run), 1});
    std::stable_sort(points.begin(), points.end(), [](const ScalingPoint& a, const ScalingPoint& b) {
        return std::pair(a.accelerators, -a.sequences_per_second) < std::pair(b.accelerators, -b.sequences_per_second);
    });
    for (ScalingPoint& point : points)
        if (points.front().per_accelerator() > 0) point.efficiency = point.per_accelerator() / points.front().per_accelerator();
    return points;
}

std::vector<std::vector<std::string>> scaling_rows(const std::vector<ScalingPoint>& points) {
    std::vector<std::vector<std::string>> rows{{"accelerators", "sequences/s", "per accelerator", "efficiency", "run"}};
    for (const ScalingPoint& point : points)
        rows.push_back({std::to_string(point.accelerators), fixed(point.sequences_per_second, 2),
                        fixed(point.per_accelerator(), 2), fixed(100 * point.efficiency, 2) + " %", point.run});
    return rows;
}

Chart scaling_chart(const std::vector<ScalingPoint>& points) {
    Chart chart{"Throughput", "accelerators", "sequences per second", {}, {}};
    ChartLine ideal{"ideal", "#7f7f7f", {{0, 0}}, 1, false}, measured{"measured", "#1f77b4", {}, 2, true};
    for (const ScalingPoint& point : points) {
        const auto accelerators = static_cast<double>(point.accelerators);
        ideal.points.emplace_back(accelerators, accelerators * points.front().per_accelerator());
        measured.points.emplace_back(accelerators, point.sequences_per_second);
    }
    chart.lines = {ideal, measured};
    chart.y_from_zero = true;
    return chart;
}

Chart efficiency_chart(const std::vector<ScalingPoint>& points) {
    Chart chart{
        "Efficiency relative to the smallest run", "accelerators", "%", {{"measured", "#1f77b4", {}, 2, true}}, {{"ideal", 100}}};
    for (const ScalingPoint& point : points)
        chart.lines[0].points.emplace_back(static_cast<double>(point.accelerators), 100 * point.efficiency);
    chart.y_from_zero = true;
    return chart;
}

}  // namespace bertpretrain
