#include "telemetry/chart.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/concat.h"
#include "core/output/markup.h"
#include "core/strings.h"
#include "telemetry/chart_legend.h"

namespace bertpretrain {
namespace {

/// Letters are large in relation to the picture, so that they can be read where a page shows three charts side by side.
constexpr double width = 600, font_size = 15, title_size = 19;
constexpr const char* level_style = "class=\"level\" stroke=\"#555555\" stroke-dasharray=\"6 4\"";
constexpr const char* mark_style = "class=\"level\" stroke=\"#777777\" stroke-dasharray=\"2 4\"";
constexpr double left = 84, right = width - 36, top = 48, bottom = 320;
constexpr double legend_left = 16, legend_top = bottom + 70, legend_row = 22, legend_line = 28, legend_gap = 8;

/// Overrides the elements' color attributes, which programs without style sheets use.
constexpr const char* dark_style =
    "<style>@media (prefers-color-scheme:dark){.chart{fill:#d7dade}.chart .paper{fill:#16191d}.chart .grid{stroke:#30363d}"
    ".chart .axis{stroke:#9aa1a9}.chart .level{stroke:#9aa1a9}}</style>\n";

/// An axis of round numbers that covers the data, in steps of 1, 2 or 5 times a power of ten.
struct Axis {
    double low = 0, high = 1, step = 0.2;
    /// @param steps about how many steps to make at most
    Axis(double from, double to, double steps) {
        if (!(to > from)) to = from + 1;
        const double rough = (to - from) / steps;
        const double power = std::pow(10, std::floor(std::log10(rough)));
        const double digit = rough / power;
        step = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
        low = std::floor(from / step) * step;
        high = std::ceil(to / step) * step;
    }
    /// Maps `value` linearly from [low, high] to [at_low, at_high].
    double place(double value, double at_low, double at_high) const {
        return at_low + (value - low) / (high - low) * (at_high - at_low);
    }
    std::string label(double value) const {
        if (std::abs(value) >= 1e12) return concat(value);
        if (step >= 1) return with_thousands(std::llround(value));
        return fixed(value, static_cast<int>(std::ceil(-std::log10(step) - 1e-9)));
    }
};

struct Frame {
    Axis x, y;
    std::string at(double value_x, double value_y) const { return px(value_x) + "," + py(value_y); }
    std::string px(double value) const { return fixed(x.place(value, left, right), 2); }
    std::string py(double value) const { return fixed(y.place(value, bottom, top), 2); }
};

bool is_drawable(const std::pair<double, double>& point) { return std::isfinite(point.first) && std::isfinite(point.second); }

Frame frame_of(const Chart& chart) {
    double x_high = 0, y_low = std::numeric_limits<double>::infinity(), y_high = -y_low;
    for (const ChartLine& line : chart.lines)
        for (const auto& point : line.points) {
            if (!is_drawable(point)) continue;
            x_high = std::max(x_high, point.first);
            y_low = std::min(y_low, point.second);
            if (point.second <= chart.y_most) y_high = std::max(y_high, point.second);
        }
    for (const ChartLevel& level : chart.levels) {
        y_low = std::min(y_low, level.y);
        y_high = std::max(y_high, level.y);
    }
    if (y_low > y_high) y_low = std::min(y_low, 0.0), y_high = std::isfinite(chart.y_most) ? chart.y_most : 1;
    if (chart.y_from_zero) y_low = std::min(0.0, y_low);
    return {Axis(0, x_high, 5), Axis(y_low, y_high, 6)};
}

/// Ends a line where it leaves the picture at the top, lets it come back where it does, and says so in its legend entry.
ChartLine cut_at(const ChartLine& line, double high) {
    ChartLine cut = line;
    cut.points.clear();
    double most = high;
    for (std::size_t i = 0; i < line.points.size(); ++i) {
        const auto& point = line.points[i];
        const bool is_above = is_drawable(point) && point.second > high;
        if (i > 0 && is_drawable(line.points[i - 1]) && is_drawable(point)) {
            const auto& last = line.points[i - 1];
            if ((last.second > high) != is_above)
                cut.points.emplace_back(
                    last.first + (high - last.second) / (point.second - last.second) * (point.first - last.first), high);
        }
        cut.points.push_back(is_above ? std::pair(point.first, std::numeric_limits<double>::quiet_NaN()) : point);
        if (is_above) most = std::max(most, point.second);
    }
    if (most > high && !line.name.empty())
        cut.name += ", rises to " + (most < 1e12 ? with_thousands(std::llround(most)) : concat(most));
    return cut;
}

std::string text_at(const std::string& x, const std::string& y, const std::string& anchor, const std::string& text) {
    return concat("<text x=\"", x, "\" y=\"", y, "\" text-anchor=\"", anchor, "\">", escape_markup(text), "</text>\n");
}

std::string line_from(const std::string& x1, const std::string& y1, const std::string& x2, const std::string& y2,
                      const char* style) {
    return concat("<line x1=\"", x1, "\" y1=\"", y1, "\" x2=\"", x2, "\" y2=\"", y2, "\" ", style, "/>\n");
}

std::string axes(const Chart& chart, const Frame& frame) {
    const std::string l = fixed(left, 0), r = fixed(right, 0), t = fixed(top, 0), b = fixed(bottom, 0);
    std::string svg;
    const auto ticks = [](const Axis& axis) { return std::llround((axis.high - axis.low) / axis.step); };
    for (long long i = 0; i <= ticks(frame.x); ++i) {
        const double value = frame.x.low + static_cast<double>(i) * frame.x.step;
        svg += line_from(frame.px(value), t, frame.px(value), b, "class=\"grid\" stroke=\"#e5e5e5\"");
        svg += text_at(frame.px(value), fixed(bottom + 20, 0), "middle", frame.x.label(value));
    }
    for (long long i = 0; i <= ticks(frame.y); ++i) {
        const double value = frame.y.low + static_cast<double>(i) * frame.y.step;
        svg += line_from(l, frame.py(value), r, frame.py(value), "class=\"grid\" stroke=\"#e5e5e5\"");
        svg += text_at(fixed(left - 8, 0), fixed(frame.y.place(value, bottom, top) + 5, 2), "end", frame.y.label(value));
    }
    svg +=
        line_from(l, b, r, b, "class=\"axis\" stroke=\"#333333\"") + line_from(l, t, l, b, "class=\"axis\" stroke=\"#333333\"");
    svg += text_at(fixed((left + right) / 2, 0), fixed(bottom + 43, 0), "middle", chart.x_label);
    svg += concat("<g transform=\"translate(20 ", fixed((top + bottom) / 2, 0), ") rotate(-90)\">",
                  text_at("0", "0", "middle", chart.y_label), "</g>\n");
    svg += concat("<g font-size=\"", fixed(title_size, 0), "\">",
                  text_at("12", "29", "start", cut_to_width(chart.title, width - 24, title_size)), "</g>\n");
    return svg;
}

std::string drawn(const ChartLine& line, const Frame& frame) {
    std::string path, markers;
    bool pen_is_down = false;
    const bool is_alone = std::count_if(line.points.begin(), line.points.end(), is_drawable) == 1;  // a path of it shows nothing
    for (const auto& point : line.points) {
        if (is_drawable(point)) {
            path += (pen_is_down ? " L" : " M") + frame.at(point.first, point.second);
            if (line.has_markers || is_alone)
                markers += concat("<circle cx=\"", frame.px(point.first), "\" cy=\"", frame.py(point.second),
                                  "\" r=\"3.5\" fill=\"", line.color, "\"/>\n");
        }
        pen_is_down = is_drawable(point);
    }
    if (path.empty()) return "";
    return concat("<path d=\"", path.substr(1), "\" fill=\"none\" stroke=\"", line.color, "\" stroke-width=\"", line.width,
                  "\" stroke-linejoin=\"round\"/>\n", markers);
}

/// The legend below the chart, where it covers no line.
struct Legend {
    std::string svg;
    double bottom = legend_top - legend_row;
};

Legend legend_of(const Chart& chart) {
    std::vector<std::string> names, styles;
    const auto entry = [&](const std::string& name, const std::string& style) {
        names.push_back(name);
        styles.push_back(style);
    };
    for (const ChartLine& line : chart.lines)
        if (!line.name.empty()) entry(line.name, concat("stroke=\"", line.color, "\" stroke-width=\"", line.width + 1, "\""));
    for (const ChartLevel& level : chart.levels) entry(level.name, level_style);
    std::string last;
    for (const ChartMark& mark : chart.marks)
        if (mark.name != last) entry(last = mark.name, mark_style);
    Legend legend;
    const std::vector<LegendPlace> places = place_legend(names, width - 2 * legend_left, legend_line + legend_gap, font_size);
    for (std::size_t i = 0; i < places.size(); ++i) {
        const double x = legend_left + places[i].x, y = legend_top + static_cast<double>(places[i].row) * legend_row;
        const std::string middle = fixed(y - 5, 0);
        legend.svg += line_from(fixed(x, 0), middle, fixed(x + legend_line, 0), middle, styles[i].c_str());
        legend.svg += text_at(fixed(x + legend_line + legend_gap, 0), fixed(y, 0), "start", places[i].name);
        legend.bottom = y;
    }
    return legend;
}

}  // namespace

std::string svg_text(const Chart& whole) {
    const Frame frame = frame_of(whole);
    Chart chart = whole;
    for (ChartLine& line : chart.lines) line = cut_at(line, frame.y.high);
    const Legend legend = legend_of(chart);
    const std::string w = fixed(width, 0), h = fixed(legend.bottom + 14, 0);
    std::string svg =
        concat("<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" width=\"", w, "\" height=\"", h, "\" viewBox=\"0 0 ", w,
               " ", h, "\" font-family=\"sans-serif\" font-size=\"", fixed(font_size, 0), "\" fill=\"#222222\">\n", dark_style,
               "<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", axes(chart, frame));
    for (const ChartLevel& level : chart.levels)
        svg += line_from(fixed(left, 0), frame.py(level.y), fixed(right, 0), frame.py(level.y), level_style);
    for (const ChartMark& mark : chart.marks)
        svg += line_from(frame.px(mark.x), fixed(top, 0), frame.px(mark.x), fixed(bottom, 0), mark_style);
    for (const ChartLine& line : chart.lines) svg += drawn(line, frame);
    return svg + legend.svg + "</svg>\n";
}

}  // namespace bertpretrain
