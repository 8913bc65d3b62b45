// devices.jsonl and the gauges of the ranks' devices.
#include "telemetry/devices_file.h"

#include <cmath>
#include <vector>

#include "support/catch.h"
#include "support/files.h"
#include "support/process.h"
#include "telemetry/device_monitor.h"
#include "telemetry/prometheus_file.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

DevicesRecord three_ranks_of_two_hosts() {
    DevicesRecord record{.step = 7, .ranks = {{0, "a", "cuda:0"}, {1, "b", "cuda:0"}, {2, "a", "cuda:1"}}};
    record.time = 1.7e9;
    record.elapsed_seconds = 2.5;
    record.ranks[0].reading.temperature_celsius = 61;
    record.ranks[0].reading.ecc_corrected_errors = 12;
    record.ranks[2].reading.utilization = 0.5;
    return record;
}

}  // namespace

TEST_CASE("devices.jsonl has a line per host, with the numbers that could be read") {
    const TemporaryFolder folder;
    std::vector<std::string> heard;
    {
        DevicesFile file(folder / "devices.jsonl");
        file.pass_on([&](std::string_view line) { heard.emplace_back(line); });
        file.append(three_ranks_of_two_hosts());
        file.finish();
    }
    const std::string start = R"({"step":7,"time":1700000000.0,"elapsed_seconds":2.5,"host":)";
    const std::vector<std::string> lines = lines_so_far(folder / "devices.jsonl");
    CHECK(lines == std::vector{start + R"("a","devices":[{"rank":0,"device":"cuda:0","temperature_celsius":61,)" +
                                   R"("ecc_corrected_errors":12},{"rank":2,"device":"cuda:1","utilization":0.5}]})",
                               start + R"("b","devices":[{"rank":1,"device":"cuda:0"}]})"});
    CHECK(heard == lines);
}

TEST_CASE("Prometheus has the devices' numbers with host, rank and device, and none that could not be read") {
    const TemporaryFolder folder;
    PrometheusFile prometheus(folder / "metrics.prom", "r", 20);
    prometheus.show(three_ranks_of_two_hosts());
    prometheus.finish();
    const std::string text = read_text(folder / "metrics.prom");
    CHECK(text.find("bertpretrain_rank_temperature_celsius{run=\"r\",host=\"a\",rank=\"0\",device=\"cuda:0\"} 61\n") !=
          text.npos);
    CHECK(text.find("bertpretrain_rank_utilization{run=\"r\",host=\"a\",rank=\"2\",device=\"cuda:1\"} 0.5\n") != text.npos);
    CHECK(text.find("# HELP bertpretrain_rank_ecc_corrected_errors Memory errors that ECC corrected") != text.npos);
    CHECK(text.find("bertpretrain_rank_ecc_uncorrected_errors") == text.npos);
    CHECK(text.find("host=\"b\"") == text.npos);
}

TEST_CASE("a monitor reads in the background; only the first rank of a host reads the host's sensors") {
    const bool reads_host = GENERATE(false, true);
    DeviceMonitor monitor(std::nullopt, 1, reads_host);
    DeviceReading reading = monitor.latest();
    for (int i = 0; i < 500 && std::isnan(reading.memory_bytes); ++i) {
        sleep_seconds(0.01);
        reading = monitor.latest();
    }
    CHECK(reading.memory_bytes > 0);
    CHECK(reading.utilization >= 0);
    CHECK(std::isnan(reading.memory_total_bytes) != reads_host);  // of /proc/meminfo
}
