#pragma once
// How the learning rate moves over a run.

#include <cstdint>
#include <string>

#include "config/field.h"

namespace bertpretrain {

/// The schedules, with p = step / total_steps and p < warmup_ratio: peak * p / warmup_ratio in all of them; then
///   constant                the peak
///   warmup_linear           straight from the peak to 0
///   warmup_constant_linear  the peak for constant_ratio, then straight to 0
///   warmup_polynomial_jump  peak * (1 - p)^degree: falls at once from the peak to peak * (1 - warmup_ratio)^degree
struct ScheduleConfig {
    std::string name = "warmup_linear";
    double warmup_ratio = 0.01;
    double constant_ratio = 0;
    double degree = 0.5;
    std::int64_t total_steps = 0;

    static void describe(auto& self, auto&& field) {
        field("name", self.name, one_of({"constant", "warmup_linear", "warmup_constant_linear", "warmup_polynomial_jump"}),
              "What follows the warm-up: the peak rate; a straight line to 0; the peak for a while, then a line to 0; or "
              "peak * (1 - step / total_steps)^degree, which begins with a jump down (NVIDIA's recipe for LAMB).");
        field("warmup_ratio", self.warmup_ratio, between(0, 1), "Share of total_steps in which the rate climbs from 0.");
        field("constant_ratio", self.constant_ratio, between(0, 1),
              "Share of total_steps at the peak after the warm-up; warmup_constant_linear only.");
        field("degree", self.degree, above(0), "The exponent of warmup_polynomial_jump.");
        field("total_steps", self.total_steps, required(between(1, 1e8)), "Optimizer steps of the whole run.",
              Resume::may_change);
    }
};

/// Refuses combinations that no single rule can. @throws ConfigError
void check_schedule(const ScheduleConfig& config);

/// The learning rate of an optimizer step.
/// @param step 1 is the first step of the run; after total_steps every schedule but `constant` gives 0
/// Sources: NVIDIA DeepLearningExamples PyTorch BERT `schedulers.py` (jump), Habana Model-References DeepSpeed BERT (constant,
/// linear).
double learning_rate_at(const ScheduleConfig& config, double peak, std::int64_t step);

}  // namespace bertpretrain
