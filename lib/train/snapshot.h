#pragma once
// The optimizer's slices as plain data: as they are, or copied, so that training can go on while they are written.

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "checkpoint/training_state.h"
#include "model/bert_config.h"
#include "model/parameter_layout.h"
#include "optimizer/sharded_optimizer.h"

namespace bertpretrain {

/// A TrainingState together with the memory that its pieces point into.
struct Snapshot {
    at::Tensor master, exp_avg, exp_avg_sq;  ///< on the CPU
    TrainingState state;                     ///< parameters, aliases and moments are filled in; the rest is the trainer's
};

/// The part of a checkpoint that a rank writes. Where every rank holds everything (ZeRO stage 0), each writes its slice of it.
/// On the CPU the pieces lie in the optimizer's own memory: it must not step while they are in use.
Snapshot see_state(const BertConfig& config, const ParameterLayout& layout, std::int64_t rank, const OptimizerState& optimizer);

/// What a checkpoint of this model takes on the disk.
std::uint64_t checkpoint_bytes(const BertConfig& config);

/// Room for the slice of one rank, used again by each copy; on a GPU's host its pages are locked. The constructor touches all of
/// it, so that the first copy is as fast as the others.
class SnapshotBuffers {
public:
    SnapshotBuffers(const ParameterLayout& layout, at::Device device);

    /// Bytes of the buffers of one rank.
    static std::uint64_t bytes(const ParameterLayout& layout);

    /// Copies on all threads of torch. The result is good until the next copy.
    Snapshot copy(const BertConfig& config, const ParameterLayout& layout, std::int64_t rank, const OptimizerState& optimizer);

private:
    at::Tensor master_, exp_avg_, exp_avg_sq_;
};

}  // namespace bertpretrain
