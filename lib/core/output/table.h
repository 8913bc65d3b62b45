#pragma once
// Plain-text tables, and how wide they may be.

#include <cstddef>
#include <string>
#include <vector>

namespace bertpretrain {

/// Returns the columns that a table may have: COLUMNS of the environment, else the width of the terminal that standard output or
/// standard error is; without a terminal there is no limit.
std::size_t table_columns();

/// Rows of cells, padded to the width of their column. Cells that look like numbers are right-aligned.
class Table {
public:
    explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// Returns the table with a line of dashes below the headings. Each line ends in "\n". Where lines would be longer than
    /// `columns`, the cells of the widest columns are wrapped; if that does not suffice, the table is divided into several, one
    /// below the other, each of which begins with the first column.
    std::string text(std::size_t columns = table_columns()) const;

private:
    std::vector<std::vector<std::string>> rows_;
};

/// Returns the columns that lines on standard output may have: COLUMNS of the environment, else the terminal's width, else (a
/// file or a pipe) 100; at least 60.
std::size_t output_width();

}  // namespace bertpretrain
