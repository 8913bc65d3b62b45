#include "inference/logistic_regression.h"

#include <deque>

#include <ATen/ATen.h>

namespace bertpretrain {
namespace {

double inner_product(const at::Tensor& a, const at::Tensor& b) { return (a * b).sum().item<double>(); }

at::Tensor logits(const at::Tensor& inputs_ND, const at::Tensor& weights_KD1) {
    const std::int64_t columns = inputs_ND.size(1);
    return at::addmm(weights_KD1.select(1, columns), inputs_ND, weights_KD1.narrow(1, 0, columns).t());
}

class RegressionLoss {
public:
    RegressionLoss(const at::Tensor& inputs_ND, const at::Tensor& classes_N, double strength, std::int64_t classes)
        : inputs_ND_(inputs_ND),
          classes_N1_(classes_N.unsqueeze(1)),
          decay_((classes == 2 ? 2 : 1) / (strength * static_cast<double>(inputs_ND.size(0)))) {}

    /// @returns the loss, and its gradient in `gradient_KD1`
    double at(const at::Tensor& weights_KD1, at::Tensor& gradient_KD1) const {
        const std::int64_t columns = inputs_ND_.size(1);
        const at::Tensor log_probabilities_NK = logits(inputs_ND_, weights_KD1).log_softmax(1);
        const double data_loss = -log_probabilities_NK.gather(1, classes_N1_).mean().item<double>();
        at::Tensor slopes_NK = log_probabilities_NK.exp();
        slopes_NK.scatter_add_(1, classes_N1_, at::full_like(classes_N1_, -1, slopes_NK.options()));
        slopes_NK /= static_cast<double>(inputs_ND_.size(0));
        const at::Tensor matrix_KD = weights_KD1.narrow(1, 0, columns);
        gradient_KD1 = at::cat({at::mm(slopes_NK.t(), inputs_ND_) + decay_ * matrix_KD, slopes_NK.sum(0).unsqueeze(1)}, 1);
        return data_loss + decay_ / 2 * inner_product(matrix_KD, matrix_KD);
    }

private:
    const at::Tensor& inputs_ND_;
    const at::Tensor classes_N1_;
    double decay_;
};

/// The last steps of the search, from which L-BFGS approximates the inverse of the Hessian.
class StepMemory {
public:
    void add(const at::Tensor& step, const at::Tensor& gradient_change) {
        const double curvature = inner_product(step, gradient_change);
        if (!(curvature > 0)) return;  // rounding only: the loss is strictly convex in the matrix
        if (steps_.size() == most_steps) steps_.pop_front();
        steps_.push_back({step, gradient_change, 1 / curvature});
    }

    at::Tensor descent(const at::Tensor& gradient) const {
        at::Tensor direction = -gradient;
        std::vector<double> shares(steps_.size());
        for (std::size_t i = steps_.size(); i-- > 0;) {
            shares[i] = steps_[i].inverse_curvature * inner_product(steps_[i].step, direction);
            direction -= shares[i] * steps_[i].gradient_change;
        }
        if (!steps_.empty()) {
            const Step& last = steps_.back();
            direction *= 1 / (last.inverse_curvature * inner_product(last.gradient_change, last.gradient_change));
        }
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            const double share = steps_[i].inverse_curvature * inner_product(steps_[i].gradient_change, direction);
            direction += (shares[i] - share) * steps_[i].step;
        }
        return direction;
    }
    bool empty() const { return steps_.empty(); }

private:
    static constexpr std::size_t most_steps = 10;
    struct Step {
        at::Tensor step, gradient_change;
        double inverse_curvature;
    };
    std::deque<Step> steps_;
};

}  // namespace

at::Tensor fit_logistic_regression(const at::Tensor& inputs_ND, const at::Tensor& classes_N, double strength,
                                   const at::Tensor& start_KD1, double tolerance) {
    constexpr int most_iterations = 2000, most_halvings = 40;
    constexpr double sufficient_decrease = 1e-4;
    const RegressionLoss loss(inputs_ND, classes_N, strength, start_KD1.size(0));
    StepMemory memory;
    at::Tensor weights = start_KD1.clone(), gradient;
    double value = loss.at(weights, gradient);
    for (int i = 0; i < most_iterations && gradient.abs().max().item<double>() > tolerance; ++i) {
        const at::Tensor direction = memory.descent(gradient);
        const double slope = inner_product(direction, gradient);
        double length = memory.empty() ? std::min(1.0, 1 / gradient.norm().item<double>()) : 1;
        at::Tensor next, next_gradient;
        double next_value = value;
        for (int halvings = 0;; ++halvings, length /= 2) {
            if (halvings == most_halvings) return weights;  // the loss cannot be told apart from its minimum any more
            next = weights + length * direction;
            next_value = loss.at(next, next_gradient);
            if (next_value <= value + sufficient_decrease * length * slope) break;
        }
        memory.add(next - weights, next_gradient - gradient);
        weights = next;
        gradient = next_gradient;
        value = next_value;
    }
    return weights;
}

double log_loss(const at::Tensor& inputs_ND, const at::Tensor& classes_N, const at::Tensor& weights_KD1) {
    return -logits(inputs_ND, weights_KD1).log_softmax(1).gather(1, classes_N.unsqueeze(1)).sum().item<double>();
}

at::Tensor predicted_classes(const at::Tensor& inputs_ND, const at::Tensor& weights_KD1) {
    return logits(inputs_ND, weights_KD1).argmax(1);
}

}  // namespace bertpretrain
