#include "plan/planned_step.h"

#include "support/catch.h"
#include "support/plans.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("gradients that are rounded go in two stages, and with reduce_dtype auto as it pays") {
    const auto planned = [](ReduceType type) {
        ExperimentConfig experiment;
        experiment.data.training_shards = "no/such/folder";
        experiment.parallel.reduce_dtype = type;
        return planned_step(plan_of(experiment, 2));
    };
    CHECK(planned(ReduceType::fp32).gradient_bytes == 4);
    CHECK_FALSE(planned(ReduceType::fp32).in_stages);
    CHECK(planned(ReduceType::bf16).in_stages);
    CHECK_FALSE(planned(ReduceType::bf16).chooses_dtype);
    CHECK(planned(ReduceType::automatic).gradient_bytes == 2);
    CHECK(planned(ReduceType::automatic).chooses_dtype);
}

TEST_CASE("a step has one small message, and a second one where tensors' norms are needed and spread over ranks") {
    const auto messages = [](OptimizerName name, std::int64_t zero_stage) {
        ExperimentConfig experiment;
        experiment.data.training_shards = "no/such/folder";
        experiment.optimizer.name = name;
        experiment.parallel.zero_stage = zero_stage;
        return planned_step(plan_of(experiment, 2)).messages;
    };
    CHECK(messages(OptimizerName::adamw, 1) == 1);
    for (const OptimizerName name : {OptimizerName::lamb, OptimizerName::lans, OptimizerName::stable_adamw}) {
        CHECK(messages(name, 0) == 1);
        CHECK(messages(name, 1) == 2);
    }
}
