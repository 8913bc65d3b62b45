#include "core/strings.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <sstream>

namespace bertpretrain {

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string joined;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) joined += separator;
        joined += parts[i];
    }
    return joined;
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t first, std::size_t others) {
    std::string lines, line(first, ' ');
    bool is_empty = true;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (!is_empty && line.size() + 1 + word.size() > width) {
            lines += line + "\n";
            line.assign(others, ' ');
            is_empty = true;
        }
        line += (is_empty ? "" : " ") + word;
        is_empty = false;
    }
    return is_empty ? lines : lines + line + "\n";
}

namespace {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t above = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
            diagonal = above;
        }
    }
    return row[b.size()];
}

std::string printed(const char* format, auto... values) {
    char text[64];
    std::snprintf(text, sizeof text, format, values...);
    return text;
}

}  // namespace

std::optional<std::string> nearest_name(std::string_view wrong, const std::vector<std::string>& known) {
    std::optional<std::string> best;
    std::size_t best_distance = wrong.size() / 3 + 1;
    for (const std::string& name : known) {
        const std::size_t distance = edit_distance(wrong, name);
        if (distance > best_distance || (best && distance == best_distance)) continue;
        best = name;
        best_distance = distance;
    }
    return best;
}

std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

std::string shortened(std::string_view text, std::size_t longest) {
    if (text.size() <= longest) return std::string(text);
    std::size_t end = longest - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return std::string(text.substr(0, end)) + "...";
}

std::string with_thousands(std::int64_t number) {
    std::string digits = std::to_string(number);
    const std::size_t first = number < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
    return digits;
}

std::string duration_text(double seconds) {
    const auto whole = static_cast<long long>(seconds);
    if (seconds < 60) return printed("%.1fs", seconds);
    if (seconds < 3600) return printed("%lldm %02llds", whole / 60, whole % 60);
    if (seconds < 86400 * 2.0) return printed("%lldh %02lldm", whole / 3600, whole / 60 % 60);
    return printed("%lldd %02lldh", whole / 86400, whole / 3600 % 24);
}

std::optional<double> duration_seconds(std::string_view text) {
    double number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure != std::errc() || !(number > 0) || !std::isfinite(number) || text.data() + text.size() != end + 1)
        return std::nullopt;
    switch (*end) {
        case 's':
            return number;
        case 'm':
            return number * 60;
        case 'h':
            return number * 3600;
        case 'd':
            return number * 86400;
        default:
            return std::nullopt;
    }
}

std::string bytes_text(std::uint64_t bytes) {
    static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    auto amount = static_cast<double>(bytes);
    std::size_t unit = 0;
    for (; amount >= 1024 && unit + 1 < std::size(units); ++unit) amount /= 1024;
    return printed(unit == 0 ? "%.0f %s" : "%.1f %s", amount, units[unit]);
}

std::string fixed(double number, int digits) { return printed("%.*f", digits, number); }

}  // namespace bertpretrain
