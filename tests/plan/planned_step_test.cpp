#include "plan/planned_step.h"

#include "support/catch.h"
#include "support/plans.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

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
