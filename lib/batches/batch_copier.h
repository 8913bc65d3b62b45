#pragma once
// Copies micro-batches to a device while it computes.

#include <optional>

#include <c10/core/Stream.h>

#include "batches/micro_batch.h"

namespace bertpretrain {

/// Copies by a stream of its own on a GPU. On a CPU it does nothing.
class BatchCopier {
public:
    explicit BatchCopier(at::Device device);

    /// Queues the copy of a batch in pinned memory and returns the batch with its tensors on the device. Does not wait: call
    /// wait_for_copy() before the tensors are read.
    MicroBatch copy(MicroBatch batch) const;

private:
    at::Device device_;
    std::optional<c10::Stream> stream_;  ///< nothing on a CPU
};

/// Makes the device's current stream wait for the batch's copy, if one is under way. Does not make the host wait.
void wait_for_copy(const MicroBatch& batch);

}  // namespace bertpretrain
