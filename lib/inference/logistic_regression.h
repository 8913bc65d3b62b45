#pragma once
// Multinomial logistic regression.

#include <ATen/core/Tensor.h>

namespace bertpretrain {

/// Returns the weights that minimize
///     mean over rows of (-ln softmax(W x + b)[class])  +  |W|^2 / (2 strength N),
/// which is scikit-learn's LogisticRegression(C=strength). With two classes, the second term is doubled: scikit-learn then has
/// one row of weights, which is the difference of the two here, and penalizes that. L-BFGS (Nocedal and Wright 2006,
/// algorithm 7.5) stops when no partial derivative exceeds `tolerance`. On one thread, the result depends on the arguments only.
/// @param inputs_ND fp64  @param classes_N int64, each below the number of rows of `start_KD1`
/// @param start_KD1 where to begin, such as zeros: a row per class, W and then b
/// @returns K x (D + 1), fp64
at::Tensor fit_logistic_regression(const at::Tensor& inputs_ND, const at::Tensor& classes_N, double strength,
                                   const at::Tensor& start_KD1, double tolerance);

/// Returns the sum over rows of -ln softmax(W x + b)[class].
double log_loss(const at::Tensor& inputs_ND, const at::Tensor& classes_N, const at::Tensor& weights_KD1);

/// Returns the most probable class of each row, int64; of equally probable ones, the smaller.
at::Tensor predicted_classes(const at::Tensor& inputs_ND, const at::Tensor& weights_KD1);

}  // namespace bertpretrain
