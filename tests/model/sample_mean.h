#pragma once
// The mean of independent measurements with confidence bounds.

#include <cmath>
#include <cstddef>
#include <vector>

#include "core/error.h"

namespace bertpretrain::testing {

/// Measurements of independent cases. Each bound holds with probability 1 - 1e-9 by Student's t distribution, which is slightly
/// pessimistic for logarithms of norms.
class SampleMean {
public:
    void add(double value) { values_.push_back(value); }

    double mean() const {
        double sum = 0;
        for (const double value : values_) sum += value;
        return sum / static_cast<double>(values_.size());
    }
    /// @throws Error with fewer than 18 measurements
    double lower_bound() const { return mean() - reach(); }
    double upper_bound() const { return mean() + reach(); }

private:
    double reach() const {
        check(values_.size() >= 18, values_.size(), " cases are too few for a bound");
        double squares = 0;
        for (const double value : values_) squares += (value - mean()) * (value - mean());
        const auto n = static_cast<double>(values_.size());
        const double standard_error = std::sqrt(squares / (n - 1) / n);
        return (values_.size() >= 54 ? 7.22 : 11.47) * standard_error;  // quantiles for 53 and 17 degrees of freedom
    }

    std::vector<double> values_;
};

}  // namespace bertpretrain::testing
