#pragma once
// The settings of the optimizer. The defaults are those that BERT was published with.

#include <vector>

#include "config/field.h"

namespace bertpretrain {

enum class OptimizerName { adamw, lamb, lans, stable_adamw };
template <>
inline constexpr auto choice_names<OptimizerName> = choices("adamw", "lamb", "lans", "stable_adamw");

struct OptimizerConfig {
    OptimizerName name = OptimizerName::adamw;
    double learning_rate = 1e-4;
    std::vector<double> betas = {0.9, 0.999};
    double eps = 1e-6;
    double weight_decay = 0.01;
    double max_grad_norm = 1;

    static void describe(auto& self, auto&& field) {
        field("name", self.name, any,
              "The optimizer. lamb and lans are for large batches: they scale each tensor's step by the norm of its weights. "
              "stable_adamw is ModernBERT's: it shortens a tensor's step where the gradient is large for its second moment.");
        field("learning_rate", self.learning_rate, above(0),
              "The peak learning rate of the schedule. With stable_adamw, weight decay follows the rate as a share of this peak.",
              Resume::may_change);
        field("betas", self.betas, between(0, 1), "Decay rates of the first and the second moment: two numbers below 1.");
        field("eps", self.eps, above(0),
              "Constant added to the root of the second moment (with lans, also to the gradient's norm).");
        field("weight_decay", self.weight_decay, between(0, 1),
              "Decoupled weight decay; biases and LayerNorm are exempt. With lamb, 0 also sets every trust ratio to 1, as in "
              "apex. With stable_adamw, the fraction of a weight that a step at the peak rate removes: adamw's weight_decay x "
              "learning_rate.");
        field("max_grad_norm", self.max_grad_norm, at_least(0),
              "Maximum norm of the gradient over all tensors; a larger gradient is scaled down to it. 0 disables clipping. "
              "stable_adamw is meant to be used without.");
    }
};

/// Checks what the fields' own rules cannot. @throws ConfigError naming the setting
void check_optimizer(const OptimizerConfig& config);

}  // namespace bertpretrain
