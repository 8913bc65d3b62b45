#pragma once
// Predicts each example's class from its vector by models that were not fitted to it.

#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// The number of parts into which examples are divided; each class needs as many examples.
constexpr std::int64_t probe_folds = 5;

struct CrossValidated {
    std::vector<std::int64_t> predicted_N;
    std::vector<double> strengths;  ///< chosen for each fold
};

/// Returns each example's fold, 0 to probe_folds - 1. The examples, ordered by class and then by position, go to the folds in
/// turn, so that each fold has the same share of each class.
std::vector<std::int64_t> stratified_folds(const std::vector<std::int64_t>& classes_N);

/// Nested cross-validation of logistic regression (logistic_regression.h). The classes of a fold are predicted by a model that
/// was fitted to the other folds. Its strength, of 1e-4, 1e-3, ... 1, is the one with the lowest log loss when each of those
/// other folds is predicted from the rest of them. Columns are standardized over the rows that a model is fitted to. The result
/// does not depend on the number of threads.
/// @param vectors_ND fp32, finite, on the CPU
CrossValidated cross_validate(const at::Tensor& vectors_ND, const std::vector<std::int64_t>& classes_N, std::int64_t class_count);

}  // namespace bertpretrain
