// Checks of a machine: device, memory, transport, GPU health.
#include <cmath>
#include <cstdlib>

#include <dlfcn.h>

#include "core/environment.h"
#include "operations/device_check.h"
#include "operations/machine_memory.h"
#include "operations/transport.h"
#include "support/catch.h"
#include "support/files.h"
#include "support/skip.h"
#include "telemetry/nvml.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

TEST_CASE("a device without faults passes every operation, every time") {
    const std::vector<CheckedOperation> checked = check_device(at::kCPU, 3);
    CHECK(checked.size() == 5);
    for (const CheckedOperation& operation : checked) {
        INFO(operation.name << ": " << operation.first_wrong);
        CHECK(operation.wrong == 0);
        CHECK(operation.repetitions == 3);
        CHECK(operation.rate > 0);
    }
}

namespace {

void write_below(const TemporaryFolder& root, const std::string& name, const std::string& text) {
    fs::create_directories((root / name).parent_path());
    write_text(root / name, text);
}

}  // namespace

TEST_CASE("available memory is limited by the kernel and by the container, for both versions of control groups") {
    const TemporaryFolder root;
    write_below(root, "proc/meminfo", "MemTotal:       1000 kB\nMemAvailable:    600 kB\nHugePages_Total:       0\n");
    CHECK(available_host_memory(root.path()) == 600 * 1024);
    write_below(root, "proc/self/cgroup", "0::/\n");
    write_below(root, "sys/fs/cgroup/memory.max", "max\n");
    write_below(root, "sys/fs/cgroup/memory.current", "1000\n");
    CHECK(available_host_memory(root.path()) == 600 * 1024);
    CHECK(host_memory_limit(root.path()) == 1000 * 1024);
    write_below(root, "sys/fs/cgroup/memory.max", "5000\n");
    CHECK(available_host_memory(root.path()) == 4000);
    CHECK(host_memory_limit(root.path()) == 5000);
    write_below(root, "proc/self/cgroup", "4:memory:/\n0::/\n");
    write_below(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "3000\n");
    write_below(root, "sys/fs/cgroup/memory/memory.usage_in_bytes", "3500\n");
    CHECK(available_host_memory(root.path()) == 0);
    CHECK(host_memory_limit(root.path()) == 3000);
    CHECK(available_memory(at::kCPU) > 0);
}

TEST_CASE("the memory limit of a Slurm job holds for its steps, and cache that can be dropped counts as available") {
    const TemporaryFolder root;
    write_below(root, "proc/meminfo", "MemTotal:       1000 kB\nMemAvailable:    600 kB\n");
    write_below(root, "proc/self/cgroup", "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n");
    const std::string job = "sys/fs/cgroup/system.slice/slurmstepd.scope/job_7/";
    write_below(root, job + "step_0/user/task_0/memory.max", "max\n");
    write_below(root, job + "step_0/user/task_0/memory.current", "40000\n");
    write_below(root, job + "memory.max", "100000\n");
    write_below(root, job + "memory.current", "90000\n");
    CHECK(host_memory_limit(root.path()) == 100000);
    CHECK(available_host_memory(root.path()) == 10000);
    write_below(root, job + "memory.stat", "anon 50000\nfile 40000\ninactive_file 30000\n");
    CHECK(available_host_memory(root.path()) == 40000);
}

TEST_CASE("the transport is detected from the host's adapters and the libraries in this process") {
    const TemporaryFolder root;
    const at::Device gpu(at::kCUDA, 0);
    for (const auto& [card, state] : {std::pair("eth0", "up"), std::pair("eth1", "down"), std::pair("lo", "unknown")})
        write_below(root, std::string("sys/class/net/") + card + "/operstate", std::string(state) + "\n");
    write_below(root, "sys/class/net/eth0/speed", "25000\n");
    CHECK(find_transport(at::kCPU, false, root.path()).text() == "loopback");
    CHECK(find_transport(at::kCPU, true, root.path()).text() == "sockets (eth0 25000 Mb/s)");
    CHECK(find_transport(gpu, true, root.path()).name == "sockets");
    fs::create_directories(root / "sys/class/infiniband/rdmap16s27/device");
    fs::create_symlink("../../bus/pci/drivers/efa", root / "sys/class/infiniband/rdmap16s27/device/driver");
    CHECK(find_transport(gpu, true, root.path()).name == "sockets");  // an adapter without its library is not used
    write_below(root, "proc/self/maps", "7f00 r-xp /opt/lib/libfabric.so.1\n7f01 r-xp /opt/lib/libnccl-net-ofi.so\n");
    CHECK(find_transport(gpu, true, root.path()).text() == "efa (rdmap16s27 efa)");
    CHECK(find_transport(at::kCPU, true, root.path()).name == "sockets");
    fs::create_directories(root / "sys/class/infiniband/mlx5_0/device");
    fs::create_symlink("../../bus/pci/drivers/mlx5_core", root / "sys/class/infiniband/mlx5_0/device/driver");
    write_below(root, "proc/self/maps", "7f00 r-xp /usr/lib/libibverbs.so.1\n");
    CHECK(find_transport(gpu, true, root.path()).text() == "infiniband (mlx5_0 mlx5_core)");
}

TEST_CASE("NCCL's log of its network is no file that could be left on the disk") {
    const TemporaryFolder root;
    for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS"}) ::unsetenv(name);
    log_network_choice();
    const std::string file = environment_variable("NCCL_DEBUG_FILE").value_or("");
    testing::write_text(file, "NCCL INFO Using network IB\n");  // as NCCL does it
    CHECK(find_transport(at::Device(at::kCUDA, 0), true, root.path()).name == "infiniband");
    CHECK(fs::read_symlink(file).string().starts_with("/memfd:"));
    for (const char* name : {"NCCL_DEBUG", "NCCL_DEBUG_FILE", "NCCL_DEBUG_SUBSYS"}) ::unsetenv(name);
}

TEST_CASE("the network is what NCCL logs, also where the plugin for EFA has chosen TCP") {
    const std::string host = "ip-10-0-0-7:41:63 [0] NCCL INFO ";
    const std::string plugin = host + "NET/OFI Using Libfabric version 2.1\n";
    CHECK(network_in_nccl_log("") == "");
    CHECK(network_in_nccl_log(plugin) == "");
    CHECK(network_in_nccl_log(plugin + host + "NET/OFI Selected provider is efa, fabric is efa-direct (found 4 nics)\n" + host +
                              "Using network Libfabric\n") == "efa");
    CHECK(network_in_nccl_log(plugin + host + "NET/OFI Selected Provider is efa\n" + host + "Using network AWS Libfabric\n") ==
          "efa");
    CHECK(network_in_nccl_log(plugin + host + "NET/OFI Selected provider is tcp;ofi_rxm, fabric is 10.0.0.0/24 (found 1 nics)\n" +
                              host + "Using network Libfabric\n") == "sockets");
    CHECK(network_in_nccl_log(host + "NET/Socket : Using [0]eth0:10.0.0.7<0>\n" + host + "Using network Socket\n") == "sockets");
    CHECK(network_in_nccl_log(host + "NET/IB : Using [0]mlx5_0:1/IB [RO]; OOB eth0:10.0.0.7<0>\n" + host +
                              "Using network IB\n") == "infiniband");
}

/// Checks a reading of the stub's GPU.
static void check_reading(const DeviceReading& reading) {
    CHECK(reading.utilization == 0.12);
    CHECK(reading.memory_bytes == 20 * 0x1p30);
    CHECK(reading.memory_total_bytes == 80 * 0x1p30);
    CHECK(reading.clock_hertz == 1.41e9);
    CHECK(reading.clock_max_hertz == 1.98e9);
    CHECK(reading.memory_clock_hertz == 2.619e9);
    CHECK(reading.temperature_celsius == 41);
    CHECK(reading.power_watts == Approx(350.5));
    CHECK(std::isnan(reading.energy_joules));  // an older library without this function
    CHECK(reading.throttled_power_cap == 1);
    CHECK(reading.throttled_thermal == 1);
    CHECK(reading.throttled_hardware == 0);
    CHECK(reading.throttled_power_brake == 0);
    CHECK(reading.ecc_corrected_errors == 14);
    CHECK(reading.ecc_uncorrected_errors == 3);
    CHECK(reading.nvlink_replay_errors == 0 + 1);
    CHECK(reading.nvlink_recovery_errors == 10 + 11);
    CHECK(reading.nvlink_crc_errors == 20 + 21);
    CHECK(reading.pcie_replays == 7);
    CHECK(std::isnan(reading.cgroup_memory_bytes));  // not a GPU's
}

TEST_CASE("a GPU's health is read through NVIDIA's library, and is unknown without it") {
    if (::dlopen("libnvidia-ml.so.1", RTLD_NOW) != nullptr)
        SKIP_TEST(skip::gpu, "NVIDIA's own library is here, so the stub would not be used");
    CHECK_FALSE(gpu_health(0));
    REQUIRE(::dlopen(PROGRAM_FOLDER "/libnvml_stub.so", RTLD_NOW | RTLD_GLOBAL) != nullptr);  // later lookups find this library
    const auto health = gpu_health(0);
    REQUIRE(health);
    CHECK(health->text() ==
          "Stub GPU, 60.0 GiB of 80.0 GiB free, 1410 of 1980 MHz, 41 C, 12 % busy, 3 uncorrected memory errors");
    CHECK_FALSE(gpu_health(7));
    const auto usage = gpu_usage(0);
    REQUIRE(usage);
    CHECK(usage->busy_percent == 12);
    CHECK(usage->used_bytes == 20ULL << 30);
    CHECK_FALSE(gpu_usage(7));
    check_reading(read_gpu(0));
    CHECK(std::isnan(read_gpu(7).utilization));
}
