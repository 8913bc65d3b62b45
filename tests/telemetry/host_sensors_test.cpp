// The sensors of a host, in folders that look like Linux' /proc and /sys.
#include "telemetry/host_sensors.h"

#include <cmath>

#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// A root folder with its own /proc and /sys.
struct Host {
    void write(const std::string& file, const std::string& text) const {
        std::filesystem::create_directories((root / file).parent_path());
        write_text(root / file, text);
    }
    DeviceReading read(double now = 1) {
        DeviceReading reading;
        sensors.read(reading, now);
        sensors.read_group(reading);
        return reading;
    }
    TemporaryFolder root;
    HostSensors sensors{root.path()};
};

}  // namespace

TEST_CASE("what a host does not show is unread, never zero") {
    Host host;
    DeviceReading::fields(host.read(), [](const std::string& key, double value, const char*) {
        CAPTURE(key);
        CHECK(std::isnan(value));
    });
}

TEST_CASE("clocks are the mean of the cores', from cpufreq before /proc/cpuinfo") {
    Host host;
    host.write("proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2000.5\n\nprocessor\t: 1\ncpu MHz\t\t: 3000.5\n");
    CHECK(host.read().clock_hertz == 2.5005e9);
    CHECK(std::isnan(host.read().clock_max_hertz));
    const std::string cores = "sys/devices/system/cpu/";
    host.write(cores + "cpu0/cpufreq/scaling_cur_freq", "1000000\n");
    host.write(cores + "cpu1/cpufreq/scaling_cur_freq", "2000000\n");
    host.write(cores + "cpu1/cpufreq/cpuinfo_max_freq", "3500000\n");
    host.write(cores + "cpufreq/policy0/scaling_cur_freq", "9000000\n");
    host.write(cores + "cpu0/thermal_throttle/core_throttle_count", "3\n");
    host.write(cores + "cpu1/thermal_throttle/core_throttle_count", "4\n");
    CHECK(host.read().clock_hertz == 1.5e9);
    CHECK(host.read().clock_max_hertz == 3.5e9);
    CHECK(host.read().thermal_throttle_events == 7);
}

TEST_CASE("the temperature is that of the CPU's hottest sensor, not of a disk's") {
    Host host;
    host.write("sys/class/thermal/thermal_zone0/type", "acpitz\n");
    host.write("sys/class/thermal/thermal_zone0/temp", "99000\n");
    CHECK(std::isnan(host.read().temperature_celsius));
    host.write("sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
    host.write("sys/class/thermal/thermal_zone1/temp", "45000\n");
    CHECK(host.read().temperature_celsius == 45);
    host.write("sys/class/hwmon/hwmon0/name", "nvme\n");
    host.write("sys/class/hwmon/hwmon0/temp1_input", "88000\n");
    host.write("sys/class/hwmon/hwmon1/name", "coretemp\n");
    host.write("sys/class/hwmon/hwmon1/temp1_input", "51000\n");
    host.write("sys/class/hwmon/hwmon1/temp2_input", "52500\n");
    host.write("sys/class/hwmon/hwmon1/temp2_crit", "100000\n");
    CHECK(host.read().temperature_celsius == 52.5);
}

TEST_CASE("energy is summed over packages since the first reading, through a counter that begins again") {
    Host host;
    const std::string zones = "sys/class/powercap/";
    host.write(zones + "intel-rapl:0/energy_uj", "900000000\n");
    host.write(zones + "intel-rapl:0/max_energy_range_uj", "1000000000\n");
    host.write(zones + "intel-rapl:0:0/energy_uj", "5\n");
    host.write(zones + "intel-rapl:1/energy_uj", "0\n");
    const DeviceReading first = host.read(100);
    CHECK(first.energy_joules == 0);
    CHECK(std::isnan(first.power_watts));
    host.write(zones + "intel-rapl:0/energy_uj", "100000000\n");  // 200 J later
    host.write(zones + "intel-rapl:0:0/energy_uj", "70000000\n");
    host.write(zones + "intel-rapl:1/energy_uj", "50000000\n");
    const DeviceReading second = host.read(110);
    CHECK(second.energy_joules == Approx(250));
    CHECK(second.power_watts == Approx(25));
}

TEST_CASE("a container's throttling and memory are read from its control group, in both versions") {
    Host host;
    host.write("proc/meminfo", "MemTotal:       16384 kB\nMemFree:         1024 kB\n");
    host.write("proc/self/cgroup", "0::/job\n");
    host.write("sys/fs/cgroup/job/cpu.stat", "usage_usec 9000000\nnr_throttled 4\nthrottled_usec 2500000\n");
    host.write("sys/fs/cgroup/job/memory.current", "1000\n");
    host.write("sys/fs/cgroup/job/memory.max", "max\n");
    CHECK(host.read().memory_total_bytes == 0x1p24);
    CHECK(host.read().cgroup_throttled_seconds == 2.5);
    CHECK(host.read().cgroup_memory_bytes == 1000);
    CHECK(std::isnan(host.read().cgroup_memory_limit_bytes));
    host.write("sys/fs/cgroup/job/memory.max", "4096\n");
    CHECK(host.read().cgroup_memory_limit_bytes == 4096);
    host.write("proc/self/cgroup", "2:cpu,cpuacct:/job\n3:memory:/job\n");
    host.write("sys/fs/cgroup/cpu/job/cpu.stat", "nr_periods 5\nthrottled_time 3500000000\n");
    host.write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "2000\n");
    host.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK(host.read().cgroup_throttled_seconds == 3.5);
    CHECK(host.read().cgroup_memory_bytes == 2000);
    CHECK(std::isnan(host.read().cgroup_memory_limit_bytes));
}

TEST_CASE("memory errors are summed over the host's memory controllers") {
    Host host;
    host.write("sys/devices/system/edac/mc/mc0/ce_count", "2\n");
    host.write("sys/devices/system/edac/mc/mc1/ce_count", "3\n");
    host.write("sys/devices/system/edac/mc/mc0/ue_count", "0\n");
    CHECK(host.read().ecc_corrected_errors == 5);
    CHECK(host.read().ecc_uncorrected_errors == 0);
}
