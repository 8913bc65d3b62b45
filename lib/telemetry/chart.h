#pragma once
// A line chart as SVG, which any browser opens; it needs no other file.

#include <string>
#include <utility>
#include <vector>

namespace bertpretrain {

struct ChartLine {
    std::string name;                               ///< in the legend; empty: not listed
    std::string color;                              ///< as SVG names it: "#1f77b4"
    std::vector<std::pair<double, double>> points;  ///< x ascending; a point that is not finite interrupts the line
    double width = 1.5;
    bool has_markers = false;
};

/// A dashed horizontal line to compare with.
struct ChartLevel {
    std::string name;
    double y = 0;
};

/// A dotted vertical line where something happened.
struct ChartMark {
    std::string name;  ///< in the legend, once for all marks of one name
    double x = 0;
};

struct Chart {
    std::string title;
    std::string x_label;
    std::string y_label;
    std::vector<ChartLine> lines;
    std::vector<ChartLevel> levels;
    std::vector<ChartMark> marks = {};
    bool y_from_zero = false;
};

/// The chart with axes, ticks at round numbers and a legend. x begins at 0; y spans what is drawn, or begins at 0 too. It is
/// dark where dark colors are preferred.
std::string svg_text(const Chart& chart);

}  // namespace bertpretrain
