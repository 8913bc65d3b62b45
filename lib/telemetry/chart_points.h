#pragma once
// Prepares measured points for a chart.

#include <cstddef>
#include <utility>
#include <vector>

namespace bertpretrain {

using ChartPoints = std::vector<std::pair<double, double>>;

/// Returns the moving average: each point's mean with the points before it, over at most `count` points. A non-finite point
/// resets the average.
ChartPoints smoothed(const ChartPoints& points, std::size_t count);

/// Returns at most 1000 points, more than a chart has pixels: means of groups of equal size. Limits the file size of long runs.
ChartPoints thinned(const ChartPoints& points);

}  // namespace bertpretrain
