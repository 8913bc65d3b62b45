#pragma once
// The terminal that standard output goes to.

#include <cstddef>

namespace bertpretrain {

/// Returns the columns that lines on standard output may have: COLUMNS of the environment, else the terminal's width, else (a
/// file or a pipe) 100; at least 60.
std::size_t output_width();

}  // namespace bertpretrain
