#pragma once
// Measured points made ready for a chart.

#include <cstddef>
#include <utility>
#include <vector>

namespace bertpretrain {

using ChartPoints = std::vector<std::pair<double, double>>;

/// Each point's mean with those before it, at most `count` together; one that is not finite begins anew.
ChartPoints smoothed(const ChartPoints& points, std::size_t count);

/// At most 1000 points, more than a chart has pixels: means of equal groups, so that a long run makes no large file.
ChartPoints thinned(const ChartPoints& points);

}  // namespace bertpretrain
