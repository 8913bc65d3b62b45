#include "telemetry/nvml.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <sstream>

#include <dlfcn.h>

#include "core/environment.h"
#include "core/error.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

/// The part of NVML's C interface used here, as declared in its reference manual. All functions return 0 on success.
using Device = void*;
struct Memory {
    unsigned long long total, free, used;
};
struct Utilization {
    unsigned gpu, memory;
};
constexpr int sm_clock = 1, memory_clock = 2, core_temperature = 0, corrected = 0, uncorrected = 1, since_driver_load = 0;

/// Bits of the reasons for which a GPU's clock is lower than it could be.
constexpr unsigned long long power_cap = 0x4, hardware_slowdown = 0x8, thermal = 0x20 | 0x40, power_brake = 0x80;

/// Error counters of an NVLink.
constexpr int link_replay = 0, link_recovery = 1, link_crc_flit = 2, link_crc_data = 3;
constexpr unsigned most_links = 18;

class Library {
public:
    Library() : handle_(::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
        ready_ = handle_ != nullptr && call<int()>("nvmlInit_v2") == 0;
    }
    Library(const Library&) = delete;
    Library& operator=(const Library&) = delete;
    ~Library() {
        if (ready_) call<int()>("nvmlShutdown");
        if (handle_ != nullptr) ::dlclose(handle_);
    }
    bool ready() const { return ready_; }

    /// Calls a function of the library. Returns a failure code if the library lacks it.
    template <class Signature, class... Arguments>
    int call(const char* name, Arguments... arguments) const {
        Signature* function = nullptr;
        void* const found = ::dlsym(handle_, name);
        std::memcpy(&function, &found, sizeof function);
        return function == nullptr ? -1 : function(arguments...);
    }

private:
    void* handle_;
    bool ready_ = false;
};

/// Returns the library, or nullptr if it is not available. Loads it once, because initialization takes longer than a query.
const Library* library() {
    static std::mutex mutex;
    static std::unique_ptr<Library> opened;
    const std::lock_guard lock(mutex);
    if (!opened)
        if (auto here = std::make_unique<Library>(); here->ready()) opened = std::move(here);
    return opened.get();
}

/// Returns the CUDA_VISIBLE_DEVICES entry for a device of this process, or the index itself if the variable is not set.
std::string visible_name(std::int64_t index) {
    const std::optional<std::string> visible = environment_variable("CUDA_VISIBLE_DEVICES");
    if (!visible) return std::to_string(index);
    std::istringstream names(*visible);
    std::string name;
    for (std::int64_t i = 0; i <= index; ++i)
        if (!std::getline(names, name, ',')) return "";
    return name;
}

Device device_of(const Library& nvml, std::int64_t index) {
    const std::string name = visible_name(index);
    Device device = nullptr;
    unsigned number = 0;
    const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), number);
    const bool is_number = failure == std::errc{} && end == name.data() + name.size();
    const int result = is_number ? nvml.call<int(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2", number, &device)
                                 : nvml.call<int(const char*, Device*)>("nvmlDeviceGetHandleByUUID", name.c_str(), &device);
    return result == 0 ? device : nullptr;
}

}  // namespace

std::string GpuHealth::text() const {
    return concat(name, ", ", bytes_text(memory_bytes - used_bytes), " of ", bytes_text(memory_bytes), " free, ", sm_mhz, " of ",
                  most_sm_mhz, " MHz, ", celsius, " C, ", busy_percent, " % busy, ",
                  uncorrected_errors ? concat(*uncorrected_errors, " uncorrected memory errors") : "no ECC");
}

std::optional<GpuUsage> gpu_usage(std::int64_t index) {
    const Library* const nvml = library();
    const Device device = nvml == nullptr ? nullptr : device_of(*nvml, index);
    Utilization utilization{};
    Memory memory{};
    if (device == nullptr || nvml->call<int(Device, Utilization*)>("nvmlDeviceGetUtilizationRates", device, &utilization) != 0 ||
        nvml->call<int(Device, Memory*)>("nvmlDeviceGetMemoryInfo", device, &memory) != 0)
        return std::nullopt;
    return GpuUsage{utilization.gpu, memory.used};
}

std::optional<GpuHealth> gpu_health(std::int64_t index) {
    const Library* const opened = library();
    if (opened == nullptr) return std::nullopt;
    const Library& nvml = *opened;
    const Device device = device_of(nvml, index);
    if (device == nullptr) return std::nullopt;
    GpuHealth health;
    std::array<char, 96> name{};
    nvml.call<int(Device, char*, unsigned)>("nvmlDeviceGetName", device, name.data(), static_cast<unsigned>(name.size() - 1));
    health.name = name.data();
    Memory memory{};
    nvml.call<int(Device, Memory*)>("nvmlDeviceGetMemoryInfo", device, &memory);
    health.memory_bytes = memory.total;
    health.used_bytes = memory.used;
    nvml.call<int(Device, int, unsigned*)>("nvmlDeviceGetClockInfo", device, sm_clock, &health.sm_mhz);
    nvml.call<int(Device, int, unsigned*)>("nvmlDeviceGetMaxClockInfo", device, sm_clock, &health.most_sm_mhz);
    nvml.call<int(Device, int, unsigned*)>("nvmlDeviceGetTemperature", device, core_temperature, &health.celsius);
    Utilization utilization{};
    nvml.call<int(Device, Utilization*)>("nvmlDeviceGetUtilizationRates", device, &utilization);
    health.busy_percent = utilization.gpu;
    unsigned long long errors = 0;
    if (nvml.call<int(Device, int, int, unsigned long long*)>("nvmlDeviceGetTotalEccErrors", device, uncorrected,
                                                              since_driver_load, &errors) == 0)
        health.uncorrected_errors = errors;
    return health;
}

namespace {

/// Queries numbers of one device; what a query refuses is unread.
class Queries {
public:
    Queries(const Library& nvml, Device device) : nvml_(nvml), device_(device) {}

    /// @param name function(device, more..., pointer to a Number)
    template <class Number, class... More>
    double number(const char* name, double factor, More... more) const {
        Number value{};
        if (nvml_.call<int(Device, More..., Number*)>(name, device_, more..., &value) != 0) return DeviceReading::unread;
        return factor * static_cast<double>(value);
    }

    /// Returns the sum of an error counter over the links that are up; unread if no link shows it.
    double link_errors(std::initializer_list<int> counters) const {
        double sum = DeviceReading::unread;
        for (unsigned link = 0; link < most_links; ++link) {
            if (!(number<int, unsigned>("nvmlDeviceGetNvLinkState", 1, link) == 1)) continue;
            for (const int counter : counters) {
                const double errors =
                    number<unsigned long long, unsigned, int>("nvmlDeviceGetNvLinkErrorCounter", 1, link, counter);
                if (!std::isnan(errors)) sum = (std::isnan(sum) ? 0 : sum) + errors;
            }
        }
        return sum;
    }

    void read_throttling(DeviceReading& reading) const {
        const double reasons = number<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons", 1);
        if (std::isnan(reasons)) return;
        const auto bits = static_cast<unsigned long long>(reasons);
        reading.throttled_power_cap = (bits & power_cap) != 0 ? 1 : 0;
        reading.throttled_hardware = (bits & hardware_slowdown) != 0 ? 1 : 0;
        reading.throttled_thermal = (bits & thermal) != 0 ? 1 : 0;
        reading.throttled_power_brake = (bits & power_brake) != 0 ? 1 : 0;
    }

    void read_errors(DeviceReading& reading) const {
        const auto ecc = [&](int kind) {
            return number<unsigned long long, int, int>("nvmlDeviceGetTotalEccErrors", 1, kind, since_driver_load);
        };
        reading.ecc_corrected_errors = ecc(corrected);
        reading.ecc_uncorrected_errors = ecc(uncorrected);
        reading.nvlink_replay_errors = link_errors({link_replay});
        reading.nvlink_recovery_errors = link_errors({link_recovery});
        reading.nvlink_crc_errors = link_errors({link_crc_flit, link_crc_data});
        reading.pcie_replays = number<unsigned>("nvmlDeviceGetPcieReplayCounter", 1);
    }

private:
    const Library& nvml_;
    Device device_;
};

}  // namespace

DeviceReading read_gpu(std::int64_t index) {
    DeviceReading reading;
    const Library* const nvml = library();
    const Device device = nvml == nullptr ? nullptr : device_of(*nvml, index);
    if (device == nullptr) return reading;
    const Queries ask(*nvml, device);
    Utilization utilization{};
    if (nvml->call<int(Device, Utilization*)>("nvmlDeviceGetUtilizationRates", device, &utilization) == 0)
        reading.utilization = utilization.gpu / 100.0;
    Memory memory{};
    if (nvml->call<int(Device, Memory*)>("nvmlDeviceGetMemoryInfo", device, &memory) == 0) {
        reading.memory_bytes = static_cast<double>(memory.used);
        reading.memory_total_bytes = static_cast<double>(memory.total);
    }
    reading.clock_hertz = ask.number<unsigned, int>("nvmlDeviceGetClockInfo", 1e6, sm_clock);
    reading.clock_max_hertz = ask.number<unsigned, int>("nvmlDeviceGetMaxClockInfo", 1e6, sm_clock);
    reading.memory_clock_hertz = ask.number<unsigned, int>("nvmlDeviceGetClockInfo", 1e6, memory_clock);
    reading.temperature_celsius = ask.number<unsigned, int>("nvmlDeviceGetTemperature", 1, core_temperature);
    reading.power_watts = ask.number<unsigned>("nvmlDeviceGetPowerUsage", 1e-3);
    reading.energy_joules = ask.number<unsigned long long>("nvmlDeviceGetTotalEnergyConsumption", 1e-3);
    ask.read_throttling(reading);
    ask.read_errors(reading);
    return reading;
}

}  // namespace bertpretrain
