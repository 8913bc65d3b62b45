#pragma once
// Builds the tensors of a micro-batch.

#include <span>

#include "batches/micro_batch.h"
#include "batches/unpadded_samples.h"

namespace bertpretrain {

/// T of every micro-batch is a multiple of this, in tokens, and M of masked_multiple. Libraries prepare (and keep) code for every
/// size of matmul they meet, and the number of real tokens varies per batch. Fillers reach no loss, and their gradients are
/// exactly zero. A GPU fills whole tiles anyway. On a CPU the time grows with each row, and a sixteenth of a batch is noticeable.
inline std::int64_t token_multiple(at::Device device) { return device.is_cpu() ? 32 : 128; }
constexpr std::int64_t masked_multiple = 32;

/// The micro-batch in host memory, pinned where `device` is a GPU.
/// @param samples in any number of parts, which follow one another
/// @param device that it will be copied to
/// @throws std::logic_error when the samples' sizes do not match or a masked row is no row
MicroBatch build_batch(std::span<const UnpaddedSamples> samples, at::Device device = at::Device(at::kCPU));
inline MicroBatch build_batch(const UnpaddedSamples& samples, at::Device device = at::Device(at::kCPU)) {
    return build_batch(std::span(&samples, 1), device);
}

/// The micro-batch with its tensors on `device`; itself where they lie there. A copy from pinned memory is queued on the
/// device's current stream and not waited for.
MicroBatch to_device(MicroBatch batch, at::Device device);

}  // namespace bertpretrain
