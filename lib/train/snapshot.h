#pragma once
// Between the running parts and a checkpoint: the optimizer's slices as plain data, and back.

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/training_state.h"
#include "model/bert_config.h"
#include "model/parameter_layout.h"
#include "optimizer/sharded_optimizer.h"

namespace bertpretrain {

/// A TrainingState together with the memory that its pieces point into.
struct Snapshot {
    at::Tensor master, exp_avg, exp_avg_sq;  ///< on the CPU; the optimizer's own where that is there already
    TrainingState state;                     ///< parameters, aliases and moments are filled in; the rest is the trainer's
};

/// The part of a checkpoint that a rank writes. Where every rank holds everything (ZeRO stage 0), each writes its slice of it.
/// The optimizer must not step while the snapshot is in use.
Snapshot take_snapshot(const BertConfig& config, const ParameterLayout& layout, std::int64_t rank,
                       const OptimizerState& optimizer);

/// Fills the optimizer's state from a checkpoint written by any number of ranks. Padding stays zero.
/// @throws CheckpointError when it is damaged or of another model
void restore_optimizer(const CheckpointReader& reader, const ParameterLayout& layout, ShardedOptimizer& optimizer);

}  // namespace bertpretrain
