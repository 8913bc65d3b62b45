#pragma once
// Which optimizer, with which constants.

#include <string>
#include <vector>

#include "config/field.h"

namespace bertpretrain {

struct OptimizerConfig {
    std::string name = "lamb";
    double learning_rate = 1e-4;
    std::vector<double> betas = {0.9, 0.999};
    double eps = 1e-6;
    double weight_decay = 0.01;
    double max_grad_norm = 1;

    static void describe(auto& self, auto&& field) {
        field("name", self.name, one_of({"adamw", "lamb", "lans"}),
              "adamw; or, for large batches, lamb or lans, which scale each tensor's step by the norm of its weights.");
        field("learning_rate", self.learning_rate, above(0), "The peak of the schedule.", Resume::may_change);
        field("betas", self.betas, between(0, 1), "Decay of the first and of the second moment; two numbers below 1.");
        field("eps", self.eps, above(0), "Added to the root of the second moment (lans: also to the gradient's norm).");
        field("weight_decay", self.weight_decay, between(0, 1),
              "Decoupled decay; biases and LayerNorm are exempt. With lamb, 0 also gives every tensor the trust ratio 1, as apex "
              "does.");
        field("max_grad_norm", self.max_grad_norm, at_least(0),
              "Gradients whose norm over all tensors is larger are scaled down to it; 0: never.");
    }
};

/// Refuses what no single rule can. @throws ConfigError
void check_optimizer(const OptimizerConfig& config);

}  // namespace bertpretrain
