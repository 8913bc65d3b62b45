#include "train/start/device_batch.h"

#include "gpu/gpu.h"
#include "model/bert/bert.h"
#include "support/as_model.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("on a GPU a trial pass measures memory that grows with the sequences, and reports when it does not fit", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    BertConfig model;
    model.vocab_size = 30528;
    const FlatParameters parameters(layout_of(as_model(model), 25, 1), at::kBFloat16, *device);
    parameters.compute_weights().fill_(0.01);
    const Bert bert(model, parameters, {7, false});
    const auto few = trial_pass(bert, parameters, RunPlan(), 16), more = trial_pass(bert, parameters, RunPlan(), 64);
    REQUIRE(few.has_value());
    REQUIRE(more.has_value());
    CHECK(*more > *few);
    CHECK(*more < 4 * *few);  // weights and gradients do not grow
    CHECK(*more < memory_for_passes(*device));
    CHECK_FALSE(trial_pass(bert, parameters, RunPlan(), 1 << 20).has_value());
    CHECK(trial_pass(bert, parameters, RunPlan(), 16) == few);  // the failed pass has left no memory allocated
}
