#include "reports/device_charts.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include <nlohmann/json.hpp>

#include "core/concat.h"
#include "core/median.h"
#include "telemetry/chart_points.h"
#include "telemetry/device_reading.h"
#include "telemetry/run_paths.h"

namespace bertpretrain {
namespace {

constexpr std::size_t most_lines_of_run = 8;

/// A quantity and how to draw it.
struct Quantity {
    const char *name, *title, *unit;
    double (*value)(const DeviceReading&);
    bool is_counter = false;  ///< drawn from its first reading on
};

/// Returns the sum of those that were read; NaN if none was.
double sum_of(std::initializer_list<double> numbers) {
    double sum = DeviceReading::unread;
    for (const double number : numbers)
        if (std::isfinite(number)) sum = std::isfinite(sum) ? sum + number : number;
    return sum;
}

const Quantity quantities[]{
    {"device_rank_utilization", "Utilization of every rank's device", "% of the time busy",
     [](const DeviceReading& r) { return 100 * r.utilization; }},
    {"device_rank_memory", "Memory in use by every rank", "GiB", [](const DeviceReading& r) { return r.memory_bytes / 0x1p30; }},
    {"device_clock", "Clock", "GHz", [](const DeviceReading& r) { return r.clock_hertz * 1e-9; }},
    {"device_temperature", "Temperature", "degrees Celsius", [](const DeviceReading& r) { return r.temperature_celsius; }},
    {"device_power", "Power", "W", [](const DeviceReading& r) { return r.power_watts; }},
    {"device_throttled", "Reasons for which a GPU's clock was lowered", "number, without the power cap",
     [](const DeviceReading& r) {
         return sum_of({r.throttled_thermal, r.throttled_power_brake, r.throttled_hardware});
     }},
    {"device_power_cap", "GPU's clock lowered to keep its power limit", "1: yes",
     [](const DeviceReading& r) { return r.throttled_power_cap; }},
    {"device_quota", "Time for which a CPU quota stopped the container", "seconds",
     [](const DeviceReading& r) { return r.cgroup_throttled_seconds; }, true},
    {"device_hot_cores", "Times that heat lowered a core's clock", "count",
     [](const DeviceReading& r) { return r.thermal_throttle_events; }, true},
    {"device_memory_errors", "Memory errors (ECC), corrected or not", "count",
     [](const DeviceReading& r) {
         return sum_of({r.ecc_corrected_errors, r.ecc_uncorrected_errors});
     },
     true},
    {"device_link_errors", "Errors of NVLink and PCIe", "count",
     [](const DeviceReading& r) {
         return sum_of({r.nvlink_replay_errors, r.nvlink_recovery_errors, r.nvlink_crc_errors, r.pcie_replays});
     },
     true},
};

/// A run's readings by rank, over the hours since the first one.
using Readings = std::map<std::int64_t, std::vector<std::pair<double, DeviceReading>>>;

void add_line(Readings& readings, const nlohmann::json& line, double& first_time) {
    const double time = line.at("time");
    if (std::isnan(first_time)) first_time = time;
    const double hours = (time - first_time) / 3600;
    for (const nlohmann::json& device : line.at("devices")) {
        auto& of_rank = readings[device.at("rank").get<std::int64_t>()];
        if (!of_rank.empty() && of_rank.back().first >= hours) continue;  // the system clock was set back
        DeviceReading reading;
        DeviceReading::fields(reading, [&](const char* key, double& value, const char*) { value = device.value(key, value); });
        of_rank.emplace_back(hours, reading);
    }
}

Readings read_devices(const RunHistory& run) {
    Readings readings;
    double first_time = DeviceReading::unread;
    for (const std::filesystem::path& part : run.parts) {
        std::ifstream in(RunPaths(part).devices());
        for (std::string line; std::getline(in, line);) try {
                add_line(readings, nlohmann::json::parse(line), first_time);
            } catch (const nlohmann::json::exception&) {}
    }
    return readings;
}

ChartPoints points_of(const std::vector<std::pair<double, DeviceReading>>& readings, const Quantity& quantity) {
    ChartPoints points;
    for (const auto& [hours, reading] : readings)
        if (const double value = quantity.value(reading); std::isfinite(value)) points.emplace_back(hours, value);
    if (quantity.is_counter && !points.empty()) {
        const double first = points.front().second;
        for (auto& point : points) point.second = std::max(0.0, point.second - first);  // smaller after a reboot
    }
    return points;
}

struct NamedPoints {
    std::string name;
    ChartPoints points;
};

/// Returns the lowest, the median and the highest rank at each time.
std::vector<NamedPoints> range_of(const std::vector<NamedPoints>& ranks) {
    std::map<double, std::vector<double>> values;
    for (const NamedPoints& rank : ranks)
        for (const auto& [hours, value] : rank.points) values[hours].push_back(value);
    std::vector<NamedPoints> range{{"lowest rank", {}}, {"median", {}}, {"highest rank", {}}};
    for (const auto& [hours, of_ranks] : values) {
        const auto [low, high] = std::minmax_element(of_ranks.begin(), of_ranks.end());
        range[0].points.emplace_back(hours, *low);
        range[1].points.emplace_back(hours, median(of_ranks));
        range[2].points.emplace_back(hours, *high);
    }
    return range;
}

std::vector<NamedPoints> lines_of(const Readings& readings, const Quantity& quantity) {
    std::vector<NamedPoints> lines;
    for (const auto& [rank, of_rank] : readings)
        if (ChartPoints points = points_of(of_rank, quantity); points.size() > 1)
            lines.push_back({concat("rank ", rank), std::move(points)});
    return lines.size() > most_lines_of_run ? range_of(lines) : lines;
}

bool is_above_zero(const ChartLine& line) {
    return std::any_of(line.points.begin(), line.points.end(), [](const auto& point) { return point.second > 0; });
}

}  // namespace

std::vector<NamedChart> device_charts(const std::vector<RunHistory>& runs) {
    std::vector<Readings> readings;
    for (const RunHistory& run : runs) readings.push_back(read_devices(run));
    std::vector<NamedChart> charts;
    for (const Quantity& quantity : quantities) {
        Chart chart{quantity.title, "hours since the first reading", quantity.unit, {}, {}};
        chart.y_from_zero = true;
        for (std::size_t i = 0; i < runs.size(); ++i)
            for (NamedPoints& line : lines_of(readings[i], quantity)) {
                const char* color = chart_colors[chart.lines.size() % chart_colors.size()];
                const std::string name = concat(runs.size() > 1 ? concat(runs[i].name, ", ") : "", line.name);
                chart.lines.push_back({name, color, thinned(line.points), 1.5, false});
            }
        if (std::any_of(chart.lines.begin(), chart.lines.end(), is_above_zero))
            charts.push_back({quantity.name, std::move(chart)});
    }
    return charts;
}

}  // namespace bertpretrain
