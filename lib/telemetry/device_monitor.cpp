#include "telemetry/device_monitor.h"

#include <mutex>

#include "core/clock.h"
#include "telemetry/device_usage.h"
#include "telemetry/host_sensors.h"
#include "telemetry/nvml.h"

namespace bertpretrain {

struct DeviceMonitor::State {
    State(std::optional<std::int64_t> on_gpu, double cores, bool host)
        : gpu(on_gpu), reads_host(host), process(std::nullopt, cores) {}

    DeviceReading read() {
        DeviceReading reading;
        if (gpu) reading = read_gpu(*gpu);
        else if (reads_host) sensors.read(reading, seconds_now());
        if (reads_host) sensors.read_group(reading);
        if (gpu) return reading;
        const DeviceUsage usage = process.sample();
        reading.utilization = usage.utilization;
        reading.memory_bytes = usage.memory_bytes;
        return reading;
    }

    // Used by the reading thread only.
    const std::optional<std::int64_t> gpu;
    const bool reads_host;
    DeviceUsageMeter process;
    HostSensors sensors;

    std::mutex mutex;
    DeviceReading latest;
    std::optional<double> begun;  ///< of the reading under way, by seconds_now()
};

DeviceMonitor::DeviceMonitor(std::optional<std::int64_t> gpu, double cores, bool reads_host)
    : state_(std::make_shared<State>(gpu, cores, reads_host)), thread_(DetachedWorker::usual_farewell_seconds, 1) {
    constexpr double longest_wait = 2;  // a driver that hangs does not keep the run from starting
    look();
    thread_.drain_for(longest_wait);
}

void DeviceMonitor::look() {
    const double now = seconds_now();
    if (now < next_) return;
    next_ = now + seconds_between_readings;
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->begun) return;
        state_->begun = now;
    }
    thread_.try_post([state = state_] {
        const DeviceReading reading = state->read();
        const std::lock_guard lock(state->mutex);
        state->latest = reading;
        state->begun.reset();
    });
}

DeviceReading DeviceMonitor::latest() const {
    constexpr double longest_reading = 60;
    const std::lock_guard lock(state_->mutex);
    const bool hangs = state_->begun && seconds_now() - *state_->begun > longest_reading;
    return hangs ? DeviceReading{} : state_->latest;
}

}  // namespace bertpretrain
