#include "plan/planned_step.h"

namespace bertpretrain {

PlannedStep planned_step(const RunPlan& plan) {
    PlannedStep step;
    step.model = plan.settings.model;
    step.world_size = plan.parallel.world_size;
    step.tokens_per_sequence = static_cast<double>(plan.settings.data.sequence_length);
    step.masked_per_sequence = plan.data.masked_lm_prob * step.tokens_per_sequence;
    step.micro_batch_size = plan.full_sequences_of_pass();
    step.global_batch = plan.global_batch();
    step.zero_stage = plan.settings.parallel.zero_stage;
    step.messages = step.zero_stage == 0 || plan.settings.optimizer.name == OptimizerName::adamw ? 1 : 2;
    const bool is_rounded =
        plan.parallel.reduce_dtype == at::kBFloat16 || plan.parallel.gradients == FlatParameters::Gradients::bf16;
    step.gradient_bytes = is_rounded ? 2 : 4;
    step.in_stages = is_rounded;
    step.chooses_dtype = plan.parallel.chooses_dtype && plan.parallel.gradients == FlatParameters::Gradients::fp32;
    step.weight_bytes = plan.compute.dtype == at::kBFloat16 ? 2 : 4;
    step.bucket_mib = plan.settings.parallel.bucket_mib;
    return step;
}

}  // namespace bertpretrain
