#pragma once
// Scores of predicted classes, with confidence intervals.

#include <cstdint>
#include <vector>

#include "telemetry/probe_record.h"

namespace bertpretrain {

/// Returns the mean over classes of 2 TP / (2 TP + FP + FN). Classes that are neither given nor predicted are left out.
double macro_f1(const std::vector<std::int64_t>& classes_N, const std::vector<std::int64_t>& predicted_N,
                std::int64_t class_count);

/// Returns accuracy with Wilson's 95 % interval, and macro-F1 with that of the delta method (Takahashi et al. 2022). Both are
/// about the choice of the examples. `seconds` stays 0.
ProbeRecord score(const std::vector<std::int64_t>& classes_N, const std::vector<std::int64_t>& predicted_N,
                  std::int64_t class_count);

/// Returns the share of the most frequent class: the accuracy of always guessing it.
double share_of_most_frequent(const std::vector<std::int64_t>& classes_N, std::int64_t class_count);

}  // namespace bertpretrain
