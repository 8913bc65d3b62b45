#include "telemetry/events_file.h"

#include <chrono>
#include <ctime>
#include <string>

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace bertpretrain {
namespace {

using nlohmann::ordered_json;

/// Now, ISO 8601 in UTC, with milliseconds.
std::string time_text() {
    using namespace std::chrono;
    const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
    const std::time_t seconds = now / 1000;
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char text[32];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    const std::string thousandths = std::to_string(1000 + now % 1000).substr(1);
    return std::string(text, size) + "." + thousandths + "Z";
}

}  // namespace

void EventsFile::append(std::string_view event, const ordered_json& details) {
    check(details.is_object(), "an event's details are an object");
    ordered_json line = {{"time", time_text()}, {"event", event}};
    for (const auto& [key, value] : details.items()) line[key] = value;
    lines_.append(line.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

void EventsFile::append(std::string_view event) { append(event, ordered_json::object()); }

}  // namespace bertpretrain
