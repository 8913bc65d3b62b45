#include "telemetry/chart_legend.h"

namespace bertpretrain {
namespace {

/// Of a sans-serif font, in its size; a name of many wide letters may need more.
constexpr double width_of_letter = 0.56, gap_between_entries = 1.2;

bool begins_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

std::size_t letters_of(const std::string& text) {
    std::size_t letters = 0;
    for (const char byte : text)
        if (begins_letter(byte)) ++letters;
    return letters;
}

}  // namespace

std::string cut_to_width(const std::string& text, double width, double font_size) {
    const auto most = static_cast<std::size_t>(width / (width_of_letter * font_size));
    if (letters_of(text) <= most) return text;
    std::size_t letters = 0, end = 0;
    for (; end < text.size(); ++end)
        if (begins_letter(text[end]) && ++letters >= most) break;
    return text.substr(0, end) + "…";
}

std::vector<LegendPlace> place_legend(const std::vector<std::string>& names, double width, double before, double font_size) {
    const double letter = width_of_letter * font_size;
    std::vector<LegendPlace> places;
    double next = 0;
    std::size_t row = 0;
    for (const std::string& name : names) {
        const std::string shown = cut_to_width(name, width - before, font_size);
        const double needed = before + letter * static_cast<double>(letters_of(shown));
        if (next > 0 && next + needed > width) {
            ++row;
            next = 0;
        }
        places.push_back({shown, next, row});
        next += needed + gap_between_entries * font_size;
    }
    return places;
}

}  // namespace bertpretrain
