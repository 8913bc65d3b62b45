#include "core/output/table.h"

#include "core/output/displayable.h"

#include <algorithm>
#include <cctype>

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

}  // namespace bertpretrain
