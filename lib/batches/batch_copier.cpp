#include "batches/batch_copier.h"

#include <utility>

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include "batches/build_batch.h"

namespace bertpretrain {

BatchCopier::BatchCopier(at::Device device) : device_(device) {
    if (!device.is_cpu()) stream_ = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
}

MicroBatch BatchCopier::copy(MicroBatch batch) const {
    if (!stream_) return batch;
    const c10::StreamGuard guard(*stream_);
    MicroBatch on_device = to_device(std::move(batch), device_);
    on_device.copied = std::make_shared<c10::Event>(device_.type());
    on_device.copied->record(*stream_);
    return on_device;
}

void wait_for_copy(const MicroBatch& batch) {
    if (!batch.copied) return;
    const c10::Stream computing = c10::impl::VirtualGuardImpl(batch.device().type()).getStream(batch.device());
    batch.copied->block(computing);
    // The memory belongs to the copy stream; the allocator must not give it away before this stream has read it.
    batch.numbers.record_stream(computing);
}

}  // namespace bertpretrain
