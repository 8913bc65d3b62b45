#include "reports/scaling.h"

#include <algorithm>
#include <functional>

#include "core/strings.h"

namespace bertpretrain {

namespace {

double epoch_seconds(const RunHistory& run) {
    const double rate = steady_rate(run);
    return rate > 0 ? static_cast<double>(run.samples_per_epoch) / rate : 0;
}

/// Returns the chart of a value that is inversely proportional or proportional to the number of accelerators in the ideal case.
Chart measured_and_ideal(const std::vector<ScalingPoint>& points, const std::string& title, const std::string& unit,
                         const std::function<double(const ScalingPoint&)>& value,
                         const std::function<double(double accelerators)>& ideal_value) {
    Chart chart{title, "accelerators", unit, {}, {}};
    ChartLine ideal{"ideal", "#7f7f7f", {}, 1, false}, measured{"measured", "#1f77b4", {}, 2, true};
    for (const ScalingPoint& point : points) {
        const auto accelerators = static_cast<double>(point.accelerators);
        ideal.points.emplace_back(accelerators, ideal_value(accelerators));
        measured.points.emplace_back(accelerators, value(point));
    }
    chart.lines = {ideal, measured};
    chart.y_from_zero = true;
    return chart;
}

Chart throughput_chart(const std::vector<ScalingPoint>& points) {
    const double each = points.front().per_accelerator();
    Chart chart = measured_and_ideal(
        points, "Throughput", "sequences per second", [](const ScalingPoint& point) { return point.sequences_per_second; },
        [&](double accelerators) { return accelerators * each; });
    chart.lines[0].points.insert(chart.lines[0].points.begin(), {0, 0});
    return chart;
}

Chart epoch_chart(const std::vector<ScalingPoint>& points) {
    const double alone = points.front().epoch_seconds * static_cast<double>(points.front().accelerators);
    return measured_and_ideal(
        points, "Time of an epoch", "hours", [](const ScalingPoint& point) { return point.epoch_seconds / 3600; },
        [&](double accelerators) { return alone / accelerators / 3600; });
}

Chart efficiency_chart(const std::vector<ScalingPoint>& points) {
    Chart chart{
        "Efficiency relative to the smallest run", "accelerators", "%", {{"measured", "#1f77b4", {}, 2, true}}, {{"ideal", 100}}};
    for (const ScalingPoint& point : points)
        chart.lines[0].points.emplace_back(static_cast<double>(point.accelerators), 100 * point.efficiency);
    chart.y_from_zero = true;
    return chart;
}

}  // namespace

std::vector<ScalingPoint> scaling_points(const std::vector<RunHistory>& runs) {
    std::vector<ScalingPoint> points;
    for (const RunHistory& run : runs)
        points.push_back({run.name, run.sessions.back().ranks, steady_rate(run), 1, epoch_seconds(run)});
    std::stable_sort(points.begin(), points.end(), [](const ScalingPoint& a, const ScalingPoint& b) {
        return std::pair(a.accelerators, -a.sequences_per_second) < std::pair(b.accelerators, -b.sequences_per_second);
    });
    for (ScalingPoint& point : points)
        if (points.front().per_accelerator() > 0) point.efficiency = point.per_accelerator() / points.front().per_accelerator();
    return points;
}

std::vector<std::vector<std::string>> scaling_rows(const std::vector<ScalingPoint>& points) {
    std::vector<std::vector<std::string>> rows{
        {"accelerators", "sequences/s", "per accelerator", "efficiency", "time per epoch", "run"}};
    for (const ScalingPoint& point : points)
        rows.push_back({std::to_string(point.accelerators), fixed(point.sequences_per_second, 2),
                        fixed(point.per_accelerator(), 2), fixed(100 * point.efficiency, 2) + " %",
                        point.epoch_seconds > 0 ? duration_text(point.epoch_seconds) : "-", point.run});
    return rows;
}

std::vector<NamedChart> scaling_charts(const std::vector<ScalingPoint>& points) {
    std::vector<NamedChart> charts{{"scaling", throughput_chart(points)}, {"efficiency", efficiency_chart(points)}};
    if (std::ranges::all_of(points, [](const ScalingPoint& point) { return point.epoch_seconds > 0; }))
        charts.push_back({"epoch_time", epoch_chart(points)});
    return charts;
}

}  // namespace bertpretrain
