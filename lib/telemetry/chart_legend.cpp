#include "telemetry/chart_legend.h"

#include <string_view>

namespace bertpretrain {
namespace {

constexpr double gap_between_entries = 1.2;

bool begins_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) != 0x80; }

/// Returns the width of a letter that begins with this byte, in the font's size: about that of DejaVu Sans, a wide font.
double width_of_letter(char byte) {
    if (std::string_view("fijlrt.,:;'|!()[]/- ").find(byte) != std::string_view::npos) return 0.37;
    if (std::string_view("mwMW%@").find(byte) != std::string_view::npos) return 0.95;
    if (static_cast<unsigned char>(byte) >= 0xe1) return 1;  // Chinese, emoji and the like
    return byte >= 'A' && byte <= 'Z' ? 0.72 : 0.62;
}

double width_of(std::string_view text) {
    double sum = 0;
    for (const char byte : text)
        if (begins_letter(byte)) sum += width_of_letter(byte);
    return sum;
}

}  // namespace

std::string cut_to_width(const std::string& text, double width, double font_size) {
    const double most = width / font_size, ellipsis = 1;
    if (width_of(text) <= most) return text;
    double taken = ellipsis;
    std::size_t end = 0;
    for (; end < text.size(); ++end)
        if (begins_letter(text[end]) && (taken += width_of_letter(text[end])) > most) break;
    return text.substr(0, end) + "…";
}

std::vector<LegendPlace> place_legend(const std::vector<std::string>& names, double width, double before, double font_size) {
    std::vector<LegendPlace> places;
    double next = 0;
    std::size_t row = 0;
    for (const std::string& name : names) {
        const std::string shown = cut_to_width(name, width - before, font_size);
        const double needed = before + font_size * width_of(shown);
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
