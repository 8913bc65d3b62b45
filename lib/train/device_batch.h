#pragma once
// How many sequences a device takes in one pass: as many micro-batches at once as its memory holds, for the same sums.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/bert.h"
#include "parallel/control_group.h"
#include "train/experiment_config.h"

namespace bertpretrain {

/// Multiples of a micro-batch that cut a rank's sequences of a step into equally many micro-batches each, ascending.
std::vector<std::int64_t> pass_sizes(std::int64_t micro_batch_size, std::int64_t sequences_of_rank);

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
std::optional<std::uint64_t> trial_pass(const Bert& bert, const FlatParameters& parameters, const DataConfig& data,
                                        std::int64_t sequences);

/// Bytes that this process may have on the device: what is free and what it has, less a reserve for what does not ask torch
/// (NCCL, cuBLAS, fragments).
std::uint64_t memory_for_passes(at::Device device);

/// What batch.device_micro_batch means here; all ranks together, and the same on all.
/// @param measures whether auto may try (a GPU) @param kept what an earlier start found: no more is tried, so that a run that
/// goes on repeats its bits @param most asked for only when something is tried
std::int64_t choose_device_micro_batch(ControlGroup& ranks, const ExperimentConfig& experiment, std::int64_t sequences_of_rank,
                                       bool measures, std::optional<std::int64_t> kept,
                                       const std::function<std::uint64_t()>& most, const TrialPass& trial);

}  // namespace bertpretrain
