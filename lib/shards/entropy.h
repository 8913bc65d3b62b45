#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace bertpretrain {

/// Returns the entropy in nats of the distribution given by `counts`, or 0 if all are 0. For the labels of masked tokens this
/// is the loss of a unigram model: a model with a higher loss has learned nothing beyond token frequencies.
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
