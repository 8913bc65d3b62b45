#pragma once
// Plain-text tables.

#include <string>
#include <vector>

namespace bertpretrain {

/// Rows of cells, padded to the width of their column. Cells that look like numbers are right-aligned.
class Table {
public:
    explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// Returns the table with a line of dashes below the headings. Each line ends in "\n".
    std::string text() const;

private:
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace bertpretrain
