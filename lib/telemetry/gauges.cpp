#include "telemetry/gauges.h"

#include <algorithm>
#include <cmath>
#include <ranges>
#include <type_traits>
#include <utility>

namespace bertpretrain {
namespace {

/// Returns a gauge per number of the sources' records, with a value for each of them.
template <class Records>
std::vector<Gauge> gauges_of_sources(const Records& records, const std::string& help) {
    std::vector<Gauge> gauges;
    for (const auto& record : records)
        std::remove_cvref_t<decltype(record)>::fields(record, [&](const std::string& key, const auto& value) {
            const std::string full = "bertpretrain_source_" + key;
            auto gauge = std::ranges::find(gauges, full, &Gauge::name);
            if (gauge == gauges.end()) gauge = gauges.insert(gauge, {full, help, {}});
            gauge->values.push_back({{{"source", record.name}}, static_cast<double>(value)});
        });
    return gauges;
}

/// Returns a gauge per number of the devices, with a value for each rank that could read it.
std::vector<Gauge> gauges_of_devices(const std::vector<RankReading>& ranks) {
    std::vector<Gauge> gauges;
    DeviceReading::fields(DeviceReading{}, [&](const std::string& key, double, const char* help) {
        gauges.push_back({"bertpretrain_rank_" + key, help, {}});
    });
    for (const RankReading& rank : ranks) {
        std::size_t at = 0;
        DeviceReading::fields(rank.reading, [&](const char*, double value, const char*) {
            if (!std::isnan(value))
                gauges[at].values.push_back(
                    {{{"host", rank.host}, {"rank", std::to_string(rank.rank)}, {"device", rank.device}}, value});
            ++at;
        });
    }
    std::erase_if(gauges, [](const Gauge& gauge) { return gauge.values.empty(); });
    return gauges;
}

}  // namespace

void RunNumbers::take(const StepRecord& record) {
    step = record;
    for (const SourceRecord& source : record.sources) sources[source.name] = source;
}

void for_each_gauge(const RunNumbers& numbers, const std::function<void(const Gauge&)>& visit) {
    const auto gauge = [&](const std::string& key, std::string help, double value) {
        visit({"bertpretrain_" + key, std::move(help), {{{}, value}}});
    };
    gauge("total_steps", "Number of steps of the whole run.", static_cast<double>(numbers.total_steps));
    gauge("ended", "1 after the run's regular end: its last step, a deadline, a budget or a target. Else 0.",
          numbers.has_ended ? 1 : 0);
    StepRecord::fields(numbers.step, [&](const std::string& key, const auto& value) {
        if (key == "elapsed_seconds") return;  // restarts from 0 at each start; the time is exported instead
        const bool is_time = key == "time";
        gauge(is_time ? "last_step_timestamp_seconds" : key,
              is_time ? "End time of the last step in seconds since 1970 UTC." : "Value of the last step, as in metrics.jsonl.",
              static_cast<double>(value));
    });
    for (const Gauge& of_sources : gauges_of_sources(std::views::values(numbers.sources),
                                                     "Value of the last step with samples of the source, as in metrics.jsonl."))
        visit(of_sources);
    gauge("checkpoint_step", "Optimizer step of the last checkpoint of this process; 0 without one.",
          static_cast<double>(numbers.save.step));
    gauge("checkpoint_seconds", "How long the last checkpoint took to write.", numbers.save.seconds);
    gauge("last_checkpoint_timestamp_seconds",
          "When the last checkpoint was complete, or the process started, in seconds since 1970 UTC.", numbers.save.time);
    for (const Gauge& of_devices : gauges_of_devices(numbers.devices)) visit(of_devices);
    if (!numbers.evaluation) return;
    EvaluationRecord::fields(*numbers.evaluation, [&](const std::string& key, const auto& value) {
        if (key.starts_with("held_out_") || key.starts_with("probe_"))
            gauge(key, "Value of the last evaluation, as in metrics.jsonl.", static_cast<double>(value));
    });
    gauge("held_out_step", "Optimizer step of the last evaluation.", static_cast<double>(numbers.evaluation->step));
    for (const Gauge& of_sources :
         gauges_of_sources(numbers.evaluation->sources, "Value of the last evaluation of the source, as in metrics.jsonl."))
        visit(of_sources);
}

}  // namespace bertpretrain
