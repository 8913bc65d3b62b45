#pragma once
// Aligned columns for people.

#include <string>
#include <vector>

namespace bertpretrain {

/// Rows of cells, padded to their columns' widths; cells that look like numbers are set to the right.
class Table {
public:
    explicit Table(std::vector<std::string> headings) : rows_{std::move(headings)} {}
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// All rows, a line under the headings, each line ended by "\n".
    std::string text() const;

private:
    std::vector<std::vector<std::string>> rows_;
};

}  // namespace bertpretrain
