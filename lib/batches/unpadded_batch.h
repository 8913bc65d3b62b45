#pragma once
// From padded rows to what the model computes on.

#include <cstdint>
#include <span>
#include <vector>

#include "batches/micro_batch.h"
#include "shards/shard_reader.h"

namespace bertpretrain {

/// The real tokens of some rows, one row after the other. A row's list of masked positions ends at its first 0.
///
/// @param rows            checked rows (check_rows)
/// @param selected_B      which of them, in this order
/// @param sample_numbers_B  the selected rows' numbers in the order of the run
/// @param pinned          puts the tensors into memory that a GPU can copy from while the program goes on
/// @returns tensors on the CPU
MicroBatch unpadded_batch(const ShardRows& rows, std::span<const std::int64_t> selected_B,
                          std::vector<std::int64_t> sample_numbers_B, bool pinned = false);

/// The same batch on `device`. Copies from pinned memory are queued on the device's current stream and not waited for.
MicroBatch to_device(MicroBatch batch, at::Device device);

}  // namespace bertpretrain
