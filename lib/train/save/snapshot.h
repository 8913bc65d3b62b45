#pragma once
// The optimizer's slices as plain data for a checkpoint: in place, or copied so that training can continue during the save.

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

#include "checkpoint/training_state.h"
#include "model/architecture.h"
#include "model/parameter_layout.h"
#include "optimizer/sharded_optimizer.h"

namespace bertpretrain {

/// A TrainingState with the memory that its pieces point into.
struct Snapshot {
    at::Tensor master, exp_avg, exp_avg_sq;        ///< on the CPU
    TrainingState state;                           ///< parameters, aliases and moments are set; the trainer sets the rest
    std::optional<std::int64_t> agreed_step = {};  ///< of the run's cross checks, where it has any; set by the trainer
};

/// Returns the part of a checkpoint that a rank writes. If every rank holds everything (ZeRO stage 0), each writes one slice.
/// On the CPU, the pieces are in the optimizer's own memory: it must not step while they are in use.
Snapshot see_state(const ModelConfig& config, const ParameterLayout& layout, std::int64_t rank, const OptimizerState& optimizer);

/// Returns the bytes that a checkpoint of this model takes on disk.
std::uint64_t checkpoint_bytes(const ModelConfig& config);

/// Host buffers for one rank's slice, reused by each copy; page-locked for a GPU. The constructor touches all pages, so that the
/// first copy is as fast as later ones.
class SnapshotBuffers {
public:
    SnapshotBuffers(const ParameterLayout& layout, at::Device device);

    /// Returns the bytes of one rank's buffers.
    static std::uint64_t bytes(const ParameterLayout& layout);

    /// Copies the slice, with all of torch's threads. The result is valid until the next copy.
    Snapshot copy(const ModelConfig& config, const ParameterLayout& layout, std::int64_t rank, const OptimizerState& optimizer);

private:
    at::Tensor master_, exp_avg_, exp_avg_sq_;
};

}  // namespace bertpretrain
