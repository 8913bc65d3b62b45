#include "telemetry/chart_points.h"

#include <algorithm>
#include <cmath>

namespace bertpretrain {
namespace {

constexpr std::size_t points_at_most = 1000;

}  // namespace

ChartPoints smoothed(const ChartPoints& points, std::size_t count) {
    ChartPoints means;
    double sum = 0;
    std::size_t first = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
        if (!std::isfinite(points[i].second)) {
            means.push_back(points[i]);
            sum = 0;
            first = i + 1;
            continue;
        }
        sum += points[i].second;
        if (i - first == count) sum -= points[first++].second;
        means.emplace_back(points[i].first, sum / static_cast<double>(i - first + 1));
    }
    return means;
}

ChartPoints thinned(const ChartPoints& points) {
    const std::size_t group = (points.size() + points_at_most - 1) / points_at_most;
    if (group <= 1) return points;
    ChartPoints means;
    for (std::size_t start = 0; start < points.size(); start += group) {
        const std::size_t count = std::min(group, points.size() - start);
        std::pair<double, double> mean{0, 0};
        for (std::size_t i = start; i < start + count; ++i) {
            mean.first += points[i].first / static_cast<double>(count);
            mean.second += points[i].second / static_cast<double>(count);
        }
        means.push_back(mean);
    }
    return means;
}

}  // namespace bertpretrain
