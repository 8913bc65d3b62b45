#pragma once
// Measures how long work on a device's stream took, by events on the stream; the host only queues the work.
// Header-only, because modules that the program loads use it too.

#include <deque>
#include <memory>
#include <optional>

#include <c10/core/Event.h>
#include <c10/core/Stream.h>

#include "core/clock.h"
#include "telemetry/trace.h"

namespace bertpretrain {

/// Adds up the times between pairs of events on streams of one device and adds each pair to the trace. Not thread-safe.
class StreamSpans {
public:
    /// @param row the trace row of the spans; must live as long as the program
    StreamSpans(c10::DeviceType device, const char* row) : device_(device), row_(row) {}

    /// A pair of events. Other streams may wait for `end`.
    struct Span {
        explicit Span(c10::DeviceType device)
            : begin(device, c10::EventFlag::BACKEND_DEFAULT), end(device, c10::EventFlag::BACKEND_DEFAULT) {}
        c10::Event begin, end;  ///< with timing enabled
        const char* name = nullptr;
    };

    /// Measures the work that queue_work() queues on the stream. Does not block. @param name must live as long as the program
    template <class QueueWork>
    std::shared_ptr<const Span> measure(const char* name, const c10::Stream& stream, const QueueWork& queue_work) {
        prepare_trace(stream);
        const auto span = std::make_shared<Span>(device_);
        span->name = name;
        span->begin.record(stream);
        queue_work();
        span->end.record(stream);
        under_way_.push_back(span);
        return span;
    }

    /// Returns the total seconds of the spans that have completed. Does not block: spans count once they and all earlier ones
    /// end.
    double seconds() {
        for (; !under_way_.empty() && under_way_.front()->end.query(); under_way_.pop_front()) add(*under_way_.front());
        return seconds_;
    }

private:
    void add(const Span& span) {
        const double took = span.begin.elapsedTime(span.end) * 1e-3;
        seconds_ += took;
        if (!traced_since_) return;
        const double begin = host_seconds_ + traced_since_->elapsedTime(span.begin) * 1e-3;
        if (begin >= host_seconds_) trace_span(span.name, begin, begin + took, row_);
    }

    /// While a trace is kept, records one event whose host time is known, to convert event times. Blocks once, for this event.
    void prepare_trace(const c10::Stream& stream) {
        if (!trace_is_kept()) traced_since_.reset();
        if (traced_since_ || !trace_is_kept()) return;
        traced_since_.emplace(device_, c10::EventFlag::BACKEND_DEFAULT);
        traced_since_->record(stream);
        traced_since_->synchronize();
        host_seconds_ = seconds_now();
    }

    c10::DeviceType device_;
    const char* row_;
    std::deque<std::shared_ptr<const Span>> under_way_;
    double seconds_ = 0;
    std::optional<c10::Event> traced_since_;
    double host_seconds_ = 0;  ///< host time of traced_since_
};

}  // namespace bertpretrain
