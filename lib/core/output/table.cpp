#include "core/output/table.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <sys/ioctl.h>
#include <unistd.h>

#include "core/environment.h"
#include "core/output/displayable.h"

namespace bertpretrain {
namespace {

bool looks_numeric(const std::string& cell) {
    return !cell.empty() &&
           (std::isdigit(static_cast<unsigned char>(cell[0])) != 0 || ((cell[0] == '-' || cell[0] == '.') && cell.size() > 1));
}

}  // namespace

std::string Table::text() const {
    std::vector<std::size_t> widths;
    std::vector<std::vector<std::string>> rows = rows_;
    for (auto& row : rows)
        for (std::string& cell : row) cell = displayable(cell);
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    }
    std::string text;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        std::string line;
        for (std::size_t c = 0; c < rows[r].size(); ++c) {
            const std::string& cell = rows[r][c];
            const std::string padding(widths[c] - cell.size(), ' ');
            const bool right = r > 0 && looks_numeric(cell);
            line += (c > 0 ? "  " : "") + (right ? padding + cell : cell + padding);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
        if (r == 0) {
            for (std::size_t c = 0; c < widths.size(); ++c) text += (c > 0 ? "  " : "") + std::string(widths[c], '-');
            text += "\n";
        }
    }
    return text;
}

std::size_t output_width() {
    constexpr std::size_t least = 60, usual = 100;
    std::size_t columns = 0;
    if (const auto text = environment_variable("COLUMNS"))
        if (std::from_chars(text->data(), text->data() + text->size(), columns).ptr != text->data() + text->size()) columns = 0;
    if (winsize size{}; columns == 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
    return columns == 0 ? usual : std::max(columns, least);
}

}  // namespace bertpretrain
