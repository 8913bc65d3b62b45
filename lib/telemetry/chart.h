#pragma once
// Draws a line chart as a self-contained SVG image.

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace bertpretrain {

/// Colors of lines, legible on light and dark pages. A chart with more lines uses them again from the first.
inline constexpr std::array chart_colors{"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2"};

struct ChartLine {
    std::string name;                               ///< legend entry; empty: not in the legend
    std::string color;                              ///< SVG color, e.g. "#1f77b4"
    std::vector<std::pair<double, double>> points;  ///< sorted by x; a non-finite point leaves a gap in the line
    double width = 1.5;
    bool has_markers = false;
};

/// A dashed horizontal reference line.
struct ChartLevel {
    std::string name;
    double y = 0;
};

/// A dotted vertical line that marks an event.
struct ChartMark {
    std::string name;  ///< legend entry; consecutive marks with the same name share one
    double x = 0;
};

struct Chart {
    std::string title;  ///< about 50 letters fit, more are cut
    std::string x_label;
    std::string y_label;
    std::vector<ChartLine> lines;
    std::vector<ChartLevel> levels;
    std::vector<ChartMark> marks = {};
    bool y_from_zero = false;
    /// The largest value that y covers, except for the round number above it. A line that rises further, such as the loss of a
    /// run that diverged, leaves the picture at the top, and the legend says how far it rises.
    double y_most = std::numeric_limits<double>::infinity();
};

/// Chart::y_most of losses in nats per masked token: guessing among 400,000 tokens is as good. Of losses per sequence it is less.
inline constexpr double most_mlm_loss = 13, most_nsp_loss = 2;

/// Returns the chart as SVG, with axes, ticks at round numbers and a legend below, whose length its height follows. x starts at
/// 0; y covers the finite values, and starts at 0 if `y_from_zero`. Uses dark colors where the viewer prefers them.
std::string svg_text(const Chart& chart);

}  // namespace bertpretrain
