#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bertpretrain {

/// Returns the middle value, the mean of the two middle values for an even number of them, or 0 when there are none.
inline double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace bertpretrain
