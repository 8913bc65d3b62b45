#include "train/device_batch.h"

#include "gpu/gpu.h"
#include "model/bert_parameters.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("on a GPU a trial pass counts memory that grows with the sequences, and says when there is none", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    const BertConfig model;
    const FlatParameters parameters(bert_layout(model, 25, 1), at::kBFloat16, *device);
    parameters.compute_weights().fill_(0.01);
    const Bert bert(model, parameters, {7, false});
    const auto few = trial_pass(bert, parameters, DataConfig(), 16), more = trial_pass(bert, parameters, DataConfig(), 64);
    REQUIRE(few.has_value());
    REQUIRE(more.has_value());
    CHECK(*more > *few);
    CHECK(*more < 4 * *few);  // weights and gradients are there once
    CHECK(*more < memory_for_passes(*device));
    CHECK_FALSE(trial_pass(bert, parameters, DataConfig(), 1 << 20).has_value());
    CHECK(trial_pass(bert, parameters, DataConfig(), 16) == few);  // what did not fit has left nothing behind
}
