#pragma once
// Fits the texts of a chart into its width: places the entries of its legend in rows.

#include <cstddef>
#include <string>
#include <vector>

namespace bertpretrain {

struct LegendPlace {
    std::string name;     ///< what fits into a row, with "…" if it was cut
    double x = 0;         ///< of the entry's left end, from that of the row
    std::size_t row = 0;  ///< from 0
};

/// Returns the text, or its beginning and "…" where it is wider. Widths are estimated, because the viewer's font is unknown.
/// @param text UTF-8
std::string cut_to_width(const std::string& text, double width, double font_size);

/// Puts entries side by side as far as they fit, and the next into another row. Widths are estimates.
/// @param names UTF-8  @param width of a row  @param before space that each entry needs before its text
std::vector<LegendPlace> place_legend(const std::vector<std::string>& names, double width, double before, double font_size);

}  // namespace bertpretrain
