#pragma once
// A device that has only streams and events, so that measurements on a GPU's streams can be tested without a GPU.

#include <algorithm>
#include <array>

#include <c10/core/Event.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace bertpretrain::testing {

/// Registered as torch's "PrivateUse1". A stream's clock advances when a test advances it, or when it waits for an event.
struct FakeDevice final : c10::impl::DeviceGuardImplInterface {
    static constexpr c10::DeviceType kind = c10::DeviceType::PrivateUse1;
    static inline const c10::Device device{kind, 0};

    /// The time in milliseconds when each stream will have finished its queued work; the current stream is number 0.
    static inline std::array<double, 2> streams{};
    /// The device's present time: events with a later time have not happened yet.
    static inline double now = 1e30;

    static c10::Stream stream(c10::StreamId number) { return c10::Stream(c10::Stream::UNSAFE, device, number); }
    /// Queues work that takes this long.
    static void work(c10::StreamId number, double milliseconds) { streams.at(static_cast<std::size_t>(number)) += milliseconds; }
    static void restart() {
        streams = {};
        now = 1e30;
    }

    c10::DeviceType type() const override { return kind; }
    c10::Device exchangeDevice(c10::Device) const override { return device; }
    c10::Device getDevice() const override { return device; }
    void setDevice(c10::Device) const override {}
    void uncheckedSetDevice(c10::Device) const noexcept override {}
    c10::Stream getStream(c10::Device) const override { return stream(0); }
    c10::Stream exchangeStream(c10::Stream) const override { return stream(0); }
    c10::DeviceIndex deviceCount() const noexcept override { return 1; }

    void destroyEvent(void* event, c10::DeviceIndex) const noexcept override { delete static_cast<double*>(event); }
    void record(void** event, const c10::Stream& stream, c10::DeviceIndex, c10::EventFlag) const override {
        if (*event == nullptr) *event = new double;
        at(*event) = time(stream);
    }
    void block(void* event, const c10::Stream& stream) const override { time(stream) = std::max(time(stream), at(event)); }
    bool queryEvent(void* event) const override { return at(event) <= now; }
    void synchronizeEvent(void* event) const override { now = std::max(now, at(event)); }
    double elapsedTime(void* begin, void* end, c10::DeviceIndex) const override { return at(end) - at(begin); }

private:
    static double& at(void* event) { return *static_cast<double*>(event); }
    static double& time(const c10::Stream& stream) { return streams.at(static_cast<std::size_t>(stream.id())); }
};

}  // namespace bertpretrain::testing
