#include "inference/probe_scores.h"

#include <algorithm>
#include <cmath>

namespace bertpretrain {
namespace {

/// Counts per class, from which F1 follows.
class ClassCounts {
public:
    ClassCounts(const std::vector<std::int64_t>& classes_N, const std::vector<std::int64_t>& predicted_N,
                std::int64_t class_count)
        : correct_(static_cast<std::size_t>(class_count)), named_(static_cast<std::size_t>(class_count)) {
        for (std::size_t i = 0; i < classes_N.size(); ++i) {
            const auto right = static_cast<std::size_t>(classes_N[i]), predicted = static_cast<std::size_t>(predicted_N[i]);
            correct_[right] += right == predicted ? 1 : 0;
            ++named_[right];
            ++named_[predicted];
        }
    }
    double f1(std::size_t k) const { return named_[k] > 0 ? 2 * correct_[k] / named_[k] : 0; }
    /// Returns the number of classes that are given or predicted.
    double classes() const {
        return static_cast<double>(std::count_if(named_.begin(), named_.end(), [](double n) { return n > 0; }));
    }
    double macro_f1() const {
        double sum = 0;
        for (std::size_t k = 0; k < named_.size(); ++k) sum += f1(k);
        return sum / std::max(1.0, classes());
    }
    /// Returns the derivative of macro_f1() by the number of such examples: f1(k) is 2 TP / named.
    double influence(std::int64_t right, std::int64_t predicted) const {
        const auto a = static_cast<std::size_t>(right), b = static_cast<std::size_t>(predicted);
        return (((a == b ? 2 : 0) - f1(a)) / named_[a] - f1(b) / named_[b]) / classes();
    }

private:
    std::vector<double> correct_, named_;  // named_: 2 TP + FP + FN
};

struct Interval {
    double low = 0, high = 0;
};

constexpr double normal_quantile = 1.959963984540054;  // of 97.5 %

/// Wilson's score interval of a share at 95 %.
Interval wilson(double successes, double count) {
    constexpr double z = normal_quantile;
    const double share = successes / count, shrink = 1 + z * z / count;
    const double middle = (share + z * z / (2 * count)) / shrink;
    const double half = z / shrink * std::sqrt(share * (1 - share) / count + z * z / (4 * count * count));
    return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

/// The interval of macro-F1: its variance is the sum of the squared influences of the examples.
Interval macro_f1_interval(const ClassCounts& counts, const std::vector<std::int64_t>& classes_N,
                           const std::vector<std::int64_t>& predicted_N) {
    double variance = 0;
    for (std::size_t i = 0; i < classes_N.size(); ++i) {
        const double influence = counts.influence(classes_N[i], predicted_N[i]);
        variance += influence * influence;
    }
    const double half = normal_quantile * std::sqrt(variance);
    return {std::max(0.0, counts.macro_f1() - half), std::min(1.0, counts.macro_f1() + half)};
}

}  // namespace

double macro_f1(const std::vector<std::int64_t>& classes_N, const std::vector<std::int64_t>& predicted_N,
                std::int64_t class_count) {
    return ClassCounts(classes_N, predicted_N, class_count).macro_f1();
}

ProbeRecord score(const std::vector<std::int64_t>& classes_N, const std::vector<std::int64_t>& predicted_N,
                  std::int64_t class_count) {
    const ClassCounts counts(classes_N, predicted_N, class_count);
    double correct = 0;
    for (std::size_t i = 0; i < classes_N.size(); ++i) correct += classes_N[i] == predicted_N[i] ? 1 : 0;
    const auto examples = static_cast<double>(classes_N.size());
    const Interval accuracy = wilson(correct, examples), f1 = macro_f1_interval(counts, classes_N, predicted_N);
    ProbeRecord record;
    record.accuracy = correct / examples;
    record.accuracy_low = accuracy.low;
    record.accuracy_high = accuracy.high;
    record.macro_f1 = counts.macro_f1();
    record.macro_f1_low = f1.low;
    record.macro_f1_high = f1.high;
    record.examples = static_cast<std::int64_t>(classes_N.size());
    return record;
}

double share_of_most_frequent(const std::vector<std::int64_t>& classes_N, std::int64_t class_count) {
    std::vector<double> counts(static_cast<std::size_t>(class_count));
    for (const std::int64_t one : classes_N) ++counts[static_cast<std::size_t>(one)];
    return *std::max_element(counts.begin(), counts.end()) / static_cast<double>(classes_N.size());
}

}  // namespace bertpretrain
