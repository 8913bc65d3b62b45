#pragma once
// Builds the tensors of a micro-batch.

#include "batches/micro_batch.h"
#include "batches/unpadded_samples.h"

namespace bertpretrain {

/// T and M of every micro-batch are multiples of these. Libraries prepare (and keep) code for every size of matmul they meet,
/// and the number of real tokens varies per batch. Fillers reach no loss, and their gradients are exactly zero.
constexpr std::int64_t token_multiple = 128, masked_multiple = 32;

/// The micro-batch in host memory, pinned where `device` is a GPU.
/// @param device that it will be copied to
/// @throws std::logic_error when the samples' sizes do not match or a masked row is no row
MicroBatch build_batch(const UnpaddedSamples& samples, at::Device device = at::Device(at::kCPU));

/// The micro-batch with its tensors on `device`; itself where they lie there. A copy from pinned memory is queued on the
/// device's current stream and not waited for.
MicroBatch to_device(MicroBatch batch, at::Device device);

}  // namespace bertpretrain
