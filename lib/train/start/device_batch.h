#pragma once
// How many sequences a device takes in one pass: as many micro-batches at once as its memory holds, for the same sums.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/model.h"
#include "parallel/control_group.h"
#include "parallel/gradient_buckets.h"
#include "plan/run_plan.h"

namespace bertpretrain {

/// The most bytes in use during a pass of so many sequences; nothing: they do not fit.
using TrialPass = std::function<std::optional<std::uint64_t>(std::int64_t sequences)>;

/// The largest of the ascending sizes of which a pass stays within `most` bytes; the first, if none does. Tries few: memory
/// grows a little slower than the size, so the first trial tells where to go on.
std::int64_t largest_that_fits(const std::vector<std::int64_t>& sizes, std::uint64_t most, const TrialPass& trial);

/// Runs a pass. @returns false when the device had too little memory for it, whichever library found out
/// @throws all other errors of the pass
bool fits_in_memory(const std::function<void()>& pass);

/// Runs a pass of sequences of full length on random weights, and forgets its gradients. On a GPU it counts what torch's
/// allocator has in use; on a CPU nothing is counted.
std::optional<std::uint64_t> trial_pass(const Model& model, const FlatParameters& parameters, const RunPlan& plan,
                                        std::int64_t sequences);

/// Runs the communication of one step once, with gradients of zero, so that the communication library has allocated
/// its memory before a pass is measured. All ranks call it together, before the weights are published.
/// @returns the bytes of the device that are in use only during the communication: copies in the dtype on the wire; 0 on a CPU
std::uint64_t trial_exchange(GradientBuckets& buckets, const FlatParameters& parameters, const at::Tensor& master);

/// Bytes that this process may have on the device: what is free and what it has, less a reserve for what does not ask torch
/// (cuBLAS, fragments).
std::uint64_t memory_for_passes(at::Device device);

/// Fills in plan.batch.device_micro_batch where it is to be measured: the largest pass that fits on every rank, and no larger
/// than the one that a resumed run has kept, so that it repeats its bits. All ranks call it together.
/// The callbacks are called only when something is tried.
/// @param sequences_of_rank of a step
/// @param exchange  communicates as a step does, on all ranks together and before anything is measured, and returns the bytes
/// that passes must leave free for that  @param most  what passes and communication may have in all
void choose_device_micro_batch(ControlGroup& ranks, RunPlan& plan, std::int64_t sequences_of_rank,
                               const std::function<std::uint64_t()>& exchange, const std::function<std::uint64_t()>& most,
                               const TrialPass& trial);

}  // namespace bertpretrain
