#include "telemetry/devices_file.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <nlohmann/json.hpp>

namespace bertpretrain {
namespace {

using nlohmann::ordered_json;

/// Writes counts without a fraction.
ordered_json number(double value) {
    constexpr double exact = 0x1p53;
    return value == std::floor(value) && std::abs(value) < exact ? ordered_json(static_cast<std::int64_t>(value))
                                                                 : ordered_json(value);
}

ordered_json device_of(const RankReading& rank) {
    ordered_json device{{"rank", rank.rank}, {"device", rank.device}};
    DeviceReading::fields(rank.reading, [&](const char* key, double value, const char*) {
        if (std::isfinite(value)) device[key] = number(value);
    });
    return device;
}

}  // namespace

void DevicesFile::append(const DevicesRecord& record) {
    std::vector<std::pair<std::string, ordered_json>> hosts;
    for (const RankReading& rank : record.ranks) {
        auto host = std::ranges::find(hosts, rank.host, &std::pair<std::string, ordered_json>::first);
        if (host == hosts.end()) host = hosts.insert(host, {rank.host, ordered_json::array()});
        host->second.push_back(device_of(rank));
    }
    for (auto& [host, devices] : hosts) {
        const ordered_json line{{"step", record.step},
                                {"time", record.time},
                                {"elapsed_seconds", record.elapsed_seconds},
                                {"host", host},
                                {"devices", std::move(devices)}};
        const std::string text = line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
        lines_.append(text);
        if (listener_) listener_(text);
    }
}

}  // namespace bertpretrain
