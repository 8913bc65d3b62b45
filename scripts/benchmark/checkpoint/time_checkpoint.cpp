// Times one operation of saving or loading, on a state of a model's size, and prints its seconds.
//   time_checkpoint save FOLDER LAYERS HIDDEN       a whole checkpoint, flushed to the disk
//   time_checkpoint load FOLDER LAYERS HIDDEN       checksums verified, everything copied into the optimizer
//   time_checkpoint snapshot ROUNDS LAYERS HIDDEN   per line: the copy that training waits for, and memcpy of as many bytes

#include <cstring>
#include <iostream>
#include <string>

#include <ATen/ATen.h>

#include "checkpoint/checkpoint_store.h"
#include "core/clock.h"
#include "model/architecture.h"
#include "parallel/world.h"
#include "train/start/restore_optimizer.h"
#include "train/save/snapshot.h"

namespace {

using namespace bertpretrain;

ModelConfig bert_of(std::int64_t layers, std::int64_t hidden) {
    ModelConfig config;
    config.bert.num_hidden_layers = layers;
    config.bert.hidden_size = hidden;
    config.bert.num_attention_heads = hidden / 64;
    config.bert.intermediate_size = 4 * hidden;
    config.bert.vocab_size = 30528;
    return config;
}

struct State {
    explicit State(const ModelConfig& shape)
        : config(shape), layout(parameters_of(config).layout_order, 16 << 20, 1), optimizer(OptimizerConfig(), layout, 0) {
        for (at::Tensor* slice : {&optimizer.state().master, &optimizer.state().exp_avg, &optimizer.state().exp_avg_sq})
            slice->copy_(at::arange(slice->numel(), at::kFloat));
    }
    ModelConfig config;
    ParameterLayout layout;
    ShardedOptimizer optimizer;
};

double save(State& state, const std::string& folder) {
    Snapshot snapshot = see_state(state.config, state.layout, 0, state.optimizer.state());
    snapshot.state.step = 1;
    const double begin = seconds_now();
    CheckpointStore(folder).save(snapshot.state);
    return seconds_now() - begin;
}

double load(State& state, const std::string& folder) {
    SingleProcess alone;
    const double begin = seconds_now();
    const CheckpointReader reader(CheckpointStore(folder).complete_at(1));
    restore_optimizer(alone, &reader, state.layout, state.optimizer);
    return seconds_now() - begin;
}

void time_snapshots(State& state, int rounds) {
    SnapshotBuffers buffers(state.layout, at::kCPU);
    const at::Tensor& from = state.optimizer.state().master;
    const at::Tensor into = at::zeros_like(from);
    for (int round = 0; round < rounds; ++round) {
        const double begin = seconds_now();
        buffers.copy(state.config, state.layout, 0, state.optimizer.state());
        const double middle = seconds_now();
        for (int third = 0; third < 3; ++third) std::memcpy(into.mutable_data_ptr(), from.const_data_ptr(), from.nbytes());
        std::cout << middle - begin << " " << seconds_now() - middle << std::endl;
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 5) return 2;
    const std::string what = arguments[1];
    State state(bert_of(std::stoll(arguments[3]), std::stoll(arguments[4])));
    if (what == "snapshot") time_snapshots(state, std::stoi(arguments[2]));
    else std::cout << (what == "save" ? save(state, arguments[2]) : load(state, arguments[2])) << std::endl;
    return 0;
}
