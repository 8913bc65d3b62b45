#include "core/output/table.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <initializer_list>
#include <limits>
#include <numeric>

#include <sys/ioctl.h>
#include <unistd.h>

#include "core/environment.h"
#include "core/output/displayable.h"

namespace bertpretrain {
namespace {

using Cells = std::vector<std::string>;

constexpr std::size_t gap = 2;                 // blanks between columns
constexpr std::size_t narrowest_wrapped = 18;  // a column is not made narrower than this

bool looks_numeric(const std::string& cell) {
    return !cell.empty() &&
           (std::isdigit(static_cast<unsigned char>(cell[0])) != 0 || ((cell[0] == '-' || cell[0] == '.') && cell.size() > 1));
}

bool continues_a_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Returns the lines of a cell: at most `width` bytes each, divided after a blank, comma or slash where there is one.
Cells wrapped(std::string_view cell, std::size_t width) {
    Cells lines;
    while (cell.size() > width) {
        std::size_t end = cell.find_last_of(" ,/", width - 1) + 1;
        if (cell[width] == ' ') end = width;
        if (end <= width / 3) end = width;
        while (end > 1 && continues_a_character(cell[end])) --end;
        lines.emplace_back(cell.substr(0, end));
        cell.remove_prefix(end);
        cell.remove_prefix(std::min(cell.find_first_not_of(' '), cell.size()));
    }
    if (!cell.empty() || lines.empty()) lines.emplace_back(cell);
    return lines;
}

std::size_t line_width(const std::vector<std::size_t>& widths) {
    return std::accumulate(widths.begin(), widths.end(), std::size_t{0}) + gap * (widths.size() - 1);
}

/// Makes the widest columns narrower, all to one width, until the line has at most `columns`, or no column is wide.
void narrow(std::vector<std::size_t>& widths, std::size_t columns) {
    for (std::size_t widest = *std::max_element(widths.begin(), widths.end());
         line_width(widths) > columns && widest > narrowest_wrapped; --widest)
        for (std::size_t& width : widths) width = std::min(width, widest - 1);
}

void append_row(std::string& text, const Cells& cells, const std::vector<std::size_t>& widths, bool is_heading) {
    std::vector<Cells> parts;
    std::size_t lines = 1;
    for (std::size_t c = 0; c < cells.size(); ++c)
        lines = std::max(lines, parts.emplace_back(wrapped(cells[c], widths[c])).size());
    for (std::size_t l = 0; l < lines; ++l) {
        std::string line;
        for (std::size_t c = 0; c < parts.size(); ++c) {
            const std::string cell = l < parts[c].size() ? parts[c][l] : "";
            const std::string padding(widths[c] - cell.size(), ' ');
            line +=
                (c > 0 ? std::string(gap, ' ') : "") + (!is_heading && looks_numeric(cells[c]) ? padding + cell : cell + padding);
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
}

std::string aligned(const std::vector<Cells>& rows, const std::vector<std::size_t>& widths) {
    std::string text;
    for (std::size_t r = 0; r < rows.size(); ++r) {
        append_row(text, rows[r], widths, r == 0);
        for (std::size_t c = 0; r == 0 && c < widths.size(); ++c)
            text += std::string(c > 0 ? gap : 0, ' ') + std::string(widths[c], '-') + (c + 1 == widths.size() ? "\n" : "");
    }
    return text;
}

/// Returns the table's first column and the columns [begin, end) of it.
std::vector<Cells> part_of(const std::vector<Cells>& rows, std::size_t begin, std::size_t end) {
    std::vector<Cells> part;
    for (const Cells& row : rows) {
        Cells& cells = part.emplace_back(Cells{row[0]});
        for (std::size_t c = begin; c < std::min(end, row.size()); ++c) cells.push_back(row[c]);
    }
    return part;
}

/// Returns the columns of the environment's COLUMNS, else of the terminal that one of the descriptors is; 0: neither.
std::size_t given_columns(std::initializer_list<int> descriptors) {
    std::size_t columns = 0;
    if (const auto text = environment_variable("COLUMNS"))
        if (std::from_chars(text->data(), text->data() + text->size(), columns).ptr != text->data() + text->size()) columns = 0;
    for (const int descriptor : descriptors)
        if (winsize size{}; columns == 0 && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
    return columns;
}

}  // namespace

std::string Table::text(std::size_t columns) const {
    std::vector<std::size_t> widths;
    std::vector<Cells> rows = rows_;
    for (Cells& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], (row[c] = displayable(row[c])).size());
    }
    narrow(widths, columns);
    std::string text;
    for (std::size_t begin = 1, end = 1; begin == 1 || begin < widths.size(); begin = end) {
        std::vector<std::size_t> of_part = {widths[0]};
        while (end < widths.size() && (end == begin || line_width(of_part) + gap + widths[end] <= columns))
            of_part.push_back(widths[end++]);
        text += (text.empty() ? "" : "\n") + aligned(part_of(rows, begin, end), of_part);
        if (end == begin) break;  // a table of one column
    }
    return text;
}

std::size_t table_columns() {
    const std::size_t columns = given_columns({STDOUT_FILENO, STDERR_FILENO});
    return columns == 0 ? std::numeric_limits<std::size_t>::max() : columns;
}

std::size_t output_width() {
    constexpr std::size_t least = 60, usual = 100;
    const std::size_t columns = given_columns({STDOUT_FILENO});
    return columns == 0 ? usual : std::max(columns, least);
}

}  // namespace bertpretrain
