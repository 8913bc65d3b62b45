#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace bertpretrain {

/// The middle value, or the mean of the middle two; 0 of nothing.
inline double median(std::vector<double> values) {
    if (values.empty()) return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace bertpretrain
