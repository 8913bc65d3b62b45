#pragma once
// How long a GPU's stream took between two of its places. The host, which only queues the work, cannot tell.

#include <optional>

#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace bertpretrain {

/// On a CPU it does nothing.
class StreamStopwatch {
public:
    explicit StreamStopwatch(c10::Device device) : device_(device) {}

    /// The place where the stream is now. Only the first call since the last stop() or reset() counts.
    void start() {
        if (device_.is_cpu() || begin_) return;
        begin_.emplace(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
        begin_->record(stream());
    }

    /// Waits until the stream has done what was queued. @returns seconds since start(), of the stream; 0 without a start
    double stop() {
        if (device_.is_cpu()) return 0;
        c10::Event end(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
        end.record(stream());
        end.synchronize();
        const double seconds = begin_ ? begin_->elapsedTime(end) * 1e-3 : 0;
        begin_.reset();
        return seconds;
    }

    /// Forgets a start() that no stop() followed: the step was interrupted.
    void reset() { begin_.reset(); }

private:
    c10::Stream stream() const { return c10::impl::VirtualGuardImpl(device_.type()).getStream(device_); }

    c10::Device device_;
    std::optional<c10::Event> begin_;
};

}  // namespace bertpretrain
