#include "model/initialize.h"

#include "gpu/gpu.h"
#include "model/bert/parameters.h"
#include "optimizer/sharded_optimizer.h"
#include "support/as_model.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("a new model on a GPU has the same weights as on the CPU", "[gpu]") {
    NEEDS_GPU();
    const auto device = find_usable_gpu();
    BertConfig model;
    model.vocab_size = 30528;
    model.hidden_size = 128, model.num_attention_heads = 2, model.num_hidden_layers = 2, model.intermediate_size = 512;
    const ParameterLayout layout = layout_of(as_model(model), 1, 2);
    for (const std::int64_t shard : {0, 1}) {
        const ShardedOptimizer here({}, layout, shard, at::kCPU), there({}, layout, shard, *device);
        for (const ShardedOptimizer* optimizer : {&here, &there})
            initialize_weights(layout, optimizer->owned_runs(), 7, optimizer->state().master);
        CHECK(here.state().master.abs().max().item<float>() > 0);
        CHECK(there.state().master.cpu().equal(here.state().master));
    }
}
