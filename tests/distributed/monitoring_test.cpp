// scripts/launch/monitoring with a real Prometheus: alerts and dashboard, and the configuration of CloudWatch's agent.
#include <filesystem>
#include <regex>

#include <dlfcn.h>

#include "core/error.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/skip.h"
#include "system/small_run.h"
#include "telemetry/host_sensors.h"
#include "telemetry/metrics_endpoint.h"
#include "telemetry/nvml.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Serves the numbers of a GPU (NVIDIA's library, or its stand-in), and of a host in a container with a CPU quota, as a run does.
std::unique_ptr<MetricsEndpoint> serve_gpu(const TemporaryFolder& host) {
    for (const auto& [file, text] : {std::pair{"proc/self/cgroup", "0::/\n"},
                                     {"sys/fs/cgroup/cpu.stat", "throttled_usec 2500000\n"},
                                     {"sys/fs/cgroup/memory.current", "1000\n"}}) {
        std::filesystem::create_directories((host / file).parent_path());
        write_text(host / file, text);
    }
    if (::dlopen("libnvidia-ml.so.1", RTLD_NOW) == nullptr)
        REQUIRE(::dlopen(PROGRAM_FOLDER "/libnvml_stub.so", RTLD_NOW | RTLD_GLOBAL) != nullptr);
    DevicesRecord record{.step = 1, .ranks = {{0, "host-a", "cuda:0", read_gpu(0)}}};
    HostSensors(host.path()).read_group(record.ranks[0].reading);
    auto endpoint = std::make_unique<MetricsEndpoint>("127.0.0.1:0", "on_a_gpu", 10);
    endpoint->show(record);
    return endpoint;
}

}  // namespace

TEST_CASE("Prometheus collects a run of two ranks, answers every query of the dashboard, and evaluates the alerts") {
    NEEDS_TRAIN();
    if (run_command("command -v prometheus && command -v promtool && " PYTHON " -c 'import jsonschema, yaml'").exit_code != 0)
        SKIP_TEST(skip::no_oracle, "no prometheus, promtool, PyYAML or jsonschema");
    const TemporaryFolder folder;
    const auto config = write_experiment(folder, {{"schedule", {{"total_steps", 100000}}},
                                                  {"checkpoint", {{"save_every_steps", 5}}},
                                                  {"evaluation", {{"every_steps", 5}}}});
    const auto run = folder / "run";
    Process job(concat(train_program, " train ", config.string(), " --output ", run.string(),
                       " --local-ranks 2 --metrics-address 127.0.0.1:0"));
    const std::regex address("http://(127\\.0\\.0\\.1:[0-9]+)/metrics");
    std::smatch found;
    std::string log;
    REQUIRE(wait_until(job, [&] {
        log = std::filesystem::exists(run / "log.txt") ? read_text(run / "log.txt") : "";
        return std::regex_search(log, found, address);
    }));
    // The run is on CPUs, so the queries about GPUs get their data from here.
    const TemporaryFolder host;
    const auto gpu = serve_gpu(host);
    std::smatch of_gpu;
    const std::string url = gpu->url();
    REQUIRE(std::regex_search(url, of_gpu, address));
    const CommandResult result =
        run_command(concat(PYTHON " tests/launch/check_monitoring.py ", found[1].str(), " ", of_gpu[1].str()));
    INFO(result.out << result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.out.find("evaluated: BertpretrainStalled") != result.out.npos);
    CHECK(result.out.find("answered: Link errors") != result.out.npos);
    CHECK(result.out.find("cloudwatch: served ") != result.out.npos);
    CHECK(result.out.find("answered: Since the last checkpoint") != result.out.npos);
    job.send(SIGTERM);
    CHECK(job.wait() == 128 + SIGTERM);
}
