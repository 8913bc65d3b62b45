#include "telemetry/device_usage.h"

#include <algorithm>
#include <ctime>
#include <fstream>
#include <limits>

#include <unistd.h>

#include "core/clock.h"
#include "telemetry/nvml.h"

namespace bertpretrain {
namespace {

double processor_seconds() {
    std::timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

double resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    double whole = 0, resident = 0;
    statm >> whole >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

DeviceUsageMeter::DeviceUsageMeter(std::optional<std::int64_t> gpu, double cores)
    : gpu_(gpu),
      cores_(std::max(cores, 1.0)),
      sampled_(gpu ? -std::numeric_limits<double>::infinity() : seconds_now()),
      processor_seconds_(processor_seconds()) {}

DeviceUsage DeviceUsageMeter::sample() {
    constexpr double seconds_between_questions = 1;
    const double now = seconds_now();
    if (!gpu_) return sample_cpu(now);
    if (now - sampled_ < seconds_between_questions) return last_;
    sampled_ = now;
    if (const auto usage = gpu_usage(*gpu_)) last_ = {usage->busy_percent / 100.0, static_cast<double>(usage->used_bytes)};
    return last_;
}

DeviceUsage DeviceUsageMeter::sample_cpu(double now) {
    const double used = processor_seconds(), seconds = now - sampled_;
    const double share = seconds > 0 ? (used - processor_seconds_) / seconds / cores_ : 0;
    sampled_ = now;
    processor_seconds_ = used;
    return {share, resident_bytes()};
}

}  // namespace bertpretrain
