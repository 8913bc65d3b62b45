#pragma once
// The learning rate schedule.

#include <cstdint>

#include "config/field.h"

namespace bertpretrain {

/// Losses at which a run ends before its last step. 0: none.
struct StopAtConfig {
    double held_out_mlm_loss = 0;
    double mlm_loss = 0;

    static void describe(auto& self, auto&& field) {
        field("held_out_mlm_loss", self.held_out_mlm_loss, at_least(0),
              "End the run after the first evaluation whose held-out MLM loss is at most this. Needs evaluation.every_steps. 0: "
              "never.",
              Resume::may_change);
        field("mlm_loss", self.mlm_loss, at_least(0),
              "End the run when the MLM loss of training is at most this, as an exponential moving average over about 100 steps; "
              "not before 100 steps are averaged. 0: never.",
              Resume::may_change);
    }
};

enum class ScheduleName { constant, warmup_linear, warmup_constant_linear, warmup_polynomial_jump, warmup_cosine, wsd };
template <>
inline constexpr auto choice_names<ScheduleName> = choices("constant", "warmup_linear", "warmup_constant_linear",
                                                           "warmup_polynomial_jump", "warmup_cosine", "wsd");

enum class DecayShape { linear, one_minus_sqrt, cosine };
template <>
inline constexpr auto choice_names<DecayShape> = choices("linear", "one_minus_sqrt", "cosine");

/// With p = step / total_steps, all schedules start with a warm-up: peak * p / warmup_ratio for p < warmup_ratio. Then
///   constant                stays at the peak
///   warmup_linear           falls linearly from the peak to 0
///   warmup_constant_linear  stays at the peak for constant_ratio, then falls linearly to 0
///   warmup_polynomial_jump  is peak * (1 - p)^degree: it drops at once from the peak to peak * (1 - warmup_ratio)^degree
///   warmup_cosine           falls by `cosine` from the peak to peak * final_ratio
///   wsd                     stays at the peak, then falls by decay_shape in the last decay_ratio to peak * final_ratio
/// After the share x of a decay, the rate is peak * (final_ratio + (1 - final_ratio) * f):
///   linear          f = 1 - x
///   one_minus_sqrt  f = 1 - sqrt(x)
///   cosine          f = (1 + cos(pi x)) / 2
struct ScheduleConfig {
    ScheduleName name = ScheduleName::warmup_linear;
    double warmup_ratio = 0.01;
    double constant_ratio = 0;
    double degree = 0.5;
    double decay_ratio = 0.1;
    DecayShape decay_shape = DecayShape::one_minus_sqrt;
    double final_ratio = 0;
    std::int64_t total_steps = 1000000;
    StopAtConfig stop_at;

    static void describe(auto& self, auto&& field) {
        field(
            "name", self.name, any,
            "The learning rate after the warm-up. constant stays at the peak; warmup_linear falls linearly to 0; "
            "warmup_constant_linear stays at the peak for constant_ratio before it falls; warmup_polynomial_jump is peak * (1 - "
            "step / total_steps)^degree, which begins with a jump down (NVIDIA's recipe for LAMB); warmup_cosine falls along a "
            "half cosine; wsd (warmup, stable, decay) stays at the peak until the last decay_ratio of the run.");
        field("warmup_ratio", self.warmup_ratio, between(0, 1), "Fraction of total_steps in which the rate rises from 0.");
        field("constant_ratio", self.constant_ratio, between(0, 1),
              "Fraction of total_steps at the peak after the warm-up; only with warmup_constant_linear.");
        field("degree", self.degree, above(0), "The exponent of warmup_polynomial_jump.");
        field("decay_ratio", self.decay_ratio, between(0.000001, 1),
              "Fraction of total_steps at the end in which the rate of wsd falls.");
        field("decay_shape", self.decay_shape, any,
              "How the rate of wsd falls after a share x of its decay: linear as 1 - x, one_minus_sqrt as 1 - sqrt(x), cosine as "
              "(1 + cos(pi x)) / 2.");
        field("final_ratio", self.final_ratio, between(0, 1),
              "The rate at total_steps as a fraction of the peak; only with warmup_cosine and wsd.");
        field("total_steps", self.total_steps, between(1, 1e8), "Number of optimizer steps of the whole run.",
              Resume::may_change);
        field("stop_at", self.stop_at, any,
              "A loss at which the run ends before total_steps. It is evaluated and saved as at its last step. The learning rate "
              "follows total_steps all the same.");
    }
};

/// Checks settings that depend on each other. @throws ConfigError naming the settings
void check_schedule(const ScheduleConfig& config);

/// Returns the learning rate of an optimizer step.
/// @param step 1 is the first step of the run; after total_steps, all schedules except `constant` keep the rate of that step
/// Sources: NVIDIA DeepLearningExamples PyTorch BERT `schedulers.py` (jump), Habana Model-References DeepSpeed BERT (constant,
/// linear), AnswerDotAI ModernBERT `scheduler.py` (one_minus_sqrt).
double learning_rate_at(const ScheduleConfig& config, double peak, std::int64_t step);

}  // namespace bertpretrain
