#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace bertpretrain {

/// Entropy in nats of the distribution that `counts` describe; 0 when they are all 0. Of masked labels it is the loss of a
/// model that knows only how frequent each token is: a training loss above it has learned nothing.
inline double entropy_of_counts(const std::vector<std::int64_t>& counts) {
    double total = 0, weighted_logs = 0;
    for (const std::int64_t count : counts) {
        if (count <= 0) continue;
        const double n = static_cast<double>(count);
        total += n;
        weighted_logs += n * std::log(n);
    }
    return total > 0 ? std::log(total) - weighted_logs / total : 0;
}

}  // namespace bertpretrain
