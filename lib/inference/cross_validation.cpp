#include "inference/cross_validation.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "inference/logistic_regression.h"

namespace bertpretrain {
namespace {

constexpr std::array probe_strengths{1e-4, 1e-3, 1e-2, 1e-1, 1.0};

/// Rows of a matrix with their classes.
struct Examples {
    at::Tensor rows;       ///< indices, int64
    at::Tensor inputs_ND;  ///< fp64
    at::Tensor classes_N;
};

/// Shifts and scales columns to mean 0 and variance 1 over the examples that it was made from.
class Standardizer {
public:
    explicit Standardizer(const at::Tensor& inputs_ND) : mean_D_(inputs_ND.mean(0)) {
        constexpr double least_share = 1e-9;  // of the mean: below, a column is constant but for rounding
        const at::Tensor deviation_D = (inputs_ND - mean_D_).square().mean(0).sqrt();
        deviation_D_ = at::where(deviation_D > least_share * mean_D_.abs(), deviation_D, 1.0);
    }
    at::Tensor operator()(const at::Tensor& inputs_ND) const { return (inputs_ND - mean_D_) / deviation_D_; }

private:
    at::Tensor mean_D_, deviation_D_;
};

class NestedValidation {
public:
    NestedValidation(const at::Tensor& vectors_ND, const std::vector<std::int64_t>& classes_N, std::int64_t class_count)
        : vectors_ND_(vectors_ND),
          classes_N_(at::tensor(classes_N, at::kLong)),
          folds_N_(at::tensor(stratified_folds(classes_N), at::kLong)),
          class_count_(class_count) {
        for (std::int64_t a = 0; a < probe_folds; ++a)
            for (std::int64_t b = a + 1; b < probe_folds; ++b) pairs_.emplace_back(a, b);
    }

    CrossValidated run() {
        CrossValidated result;
        choose_strengths(result.strengths);
        at::Tensor predicted_N = at::empty_like(classes_N_);
        // In parallel_for each fit runs on one thread, so that its sums have one order.
        at::parallel_for(0, probe_folds, 1, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t fold = begin; fold < end; ++fold) {
                const Examples fitted = examples(folds_N_ != fold), tested = examples(folds_N_ == fold);
                const Standardizer standardize(fitted.inputs_ND);
                const at::Tensor weights =
                    fit_logistic_regression(standardize(fitted.inputs_ND), fitted.classes_N,
                                            result.strengths[static_cast<std::size_t>(fold)], zero_weights(), 1e-5);
                predicted_N.index_put_({tested.rows}, predicted_classes(standardize(tested.inputs_ND), weights));
            }
        });
        result.predicted_N.assign(predicted_N.const_data_ptr<std::int64_t>(),
                                  predicted_N.const_data_ptr<std::int64_t>() + predicted_N.numel());
        return result;
    }

private:
    using Losses = std::array<double, probe_strengths.size()>;

    Examples examples(const at::Tensor& chosen_N) const {
        const at::Tensor rows = chosen_N.nonzero().select(1, 0);
        return {rows, vectors_ND_.index_select(0, rows).to(at::kDouble), classes_N_.index_select(0, rows)};
    }
    at::Tensor zero_weights() const { return at::zeros({class_count_, vectors_ND_.size(1) + 1}, at::kDouble); }

    /// Fits models to all folds but two. They choose the strength for either fold, by their loss on the other.
    /// @returns the log losses of both folds, by strength
    std::pair<Losses, Losses> validate_pair(std::int64_t a, std::int64_t b) const {
        const Examples fitted = examples((folds_N_ != a).logical_and(folds_N_ != b));
        const Standardizer standardize(fitted.inputs_ND);
        const at::Tensor inputs_ND = standardize(fitted.inputs_ND);
        const std::array<Examples, 2> tested{examples(folds_N_ == a), examples(folds_N_ == b)};
        std::array<Losses, 2> losses{};
        at::Tensor weights = zero_weights();
        for (std::size_t s = 0; s < probe_strengths.size(); ++s) {  // each begins where the one before it ended
            weights = fit_logistic_regression(inputs_ND, fitted.classes_N, probe_strengths[s], weights, 1e-4);
            for (std::size_t i = 0; i < 2; ++i)
                losses[i][s] = log_loss(standardize(tested[i].inputs_ND), tested[i].classes_N, weights);
        }
        return {losses[0], losses[1]};
    }

    void choose_strengths(std::vector<double>& chosen) const {
        std::vector<std::pair<Losses, Losses>> of_pairs(pairs_.size());
        at::parallel_for(0, static_cast<std::int64_t>(pairs_.size()), 1, [&](std::int64_t begin, std::int64_t end) {
            for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
                of_pairs[i] = validate_pair(pairs_[i].first, pairs_[i].second);
        });
        for (std::int64_t fold = 0; fold < probe_folds; ++fold) {
            Losses losses{};
            for (std::size_t i = 0; i < pairs_.size(); ++i)
                for (std::size_t s = 0; s < losses.size(); ++s) {
                    if (pairs_[i].first == fold) losses[s] += of_pairs[i].second[s];
                    if (pairs_[i].second == fold) losses[s] += of_pairs[i].first[s];
                }
            chosen.push_back(probe_strengths[static_cast<std::size_t>(
                std::distance(losses.begin(), std::min_element(losses.begin(), losses.end())))]);
        }
    }

    const at::Tensor& vectors_ND_;
    at::Tensor classes_N_, folds_N_;
    std::int64_t class_count_;
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs_;
};

}  // namespace

std::vector<std::int64_t> stratified_folds(const std::vector<std::int64_t>& classes_N) {
    std::vector<std::size_t> by_class(classes_N.size());
    std::iota(by_class.begin(), by_class.end(), std::size_t{0});
    std::stable_sort(by_class.begin(), by_class.end(), [&](std::size_t a, std::size_t b) { return classes_N[a] < classes_N[b]; });
    std::vector<std::int64_t> folds_N(classes_N.size());
    for (std::size_t i = 0; i < by_class.size(); ++i) folds_N[by_class[i]] = static_cast<std::int64_t>(i) % probe_folds;
    return folds_N;
}

CrossValidated cross_validate(const at::Tensor& vectors_ND, const std::vector<std::int64_t>& classes_N,
                              std::int64_t class_count) {
    return NestedValidation(vectors_ND, classes_N, class_count).run();
}

}  // namespace bertpretrain
