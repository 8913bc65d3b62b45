#pragma once
// Measures the time between two points of a GPU's stream, by events; the host only queues the work.

#include <optional>

#include <c10/core/Device.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace bertpretrain {

/// Does nothing on a CPU.
class StreamStopwatch {
public:
    explicit StreamStopwatch(c10::Device device) : device_(device) {}

    /// Records the stream's current position. Only the first call since the last stop() or reset() counts.
    void start() {
        if (device_.is_cpu() || begin_) return;
        begin_.emplace(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
        begin_->record(stream());
    }

    /// Blocks until the stream has done the queued work. @returns the stream's seconds since start(); 0 without a start
    double stop() {
        if (device_.is_cpu()) return 0;
        c10::Event end(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
        end.record(stream());
        end.synchronize();
        const double seconds = begin_ ? begin_->elapsedTime(end) * 1e-3 : 0;
        begin_.reset();
        return seconds;
    }

    /// Discards a start() without stop(), after an interrupted step.
    void reset() { begin_.reset(); }

private:
    c10::Stream stream() const { return c10::impl::VirtualGuardImpl(device_.type()).getStream(device_); }

    c10::Device device_;
    std::optional<c10::Event> begin_;
};

}  // namespace bertpretrain
