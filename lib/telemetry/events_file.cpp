#include "telemetry/events_file.h"

#include <chrono>
#include <cstdio>
#include <ctime>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/files.h"

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

/// The inverse of time_text(). @throws std::runtime_error
double time_of(const std::string& text) {
    std::tm parts{};
    double seconds = 0;
    if (std::sscanf(text.c_str(), "%d-%d-%dT%d:%d:%lfZ", &parts.tm_year, &parts.tm_mon, &parts.tm_mday, &parts.tm_hour,
                    &parts.tm_min, &seconds) != 6)
        throw DataError("not a time");
    parts.tm_year -= 1900;
    parts.tm_mon -= 1;
    return static_cast<double>(::timegm(&parts)) + seconds;
}

RunEvent event_of(const nlohmann::json& line) {
    RunEvent event;
    event.time = time_of(line.at("time").get<std::string>());
    event.name = line.at("event").get<std::string>();
    event.step = line.value("step", std::int64_t{0});
    event.ranks = line.value("ranks", std::int64_t{0});
    event.samples_per_epoch = line.value("samples_per_epoch", std::int64_t{0});
    event.lost_steps = line.value("lost_steps", std::int64_t{0});
    event.lost_until = line.value("lost_until", 0.0);
    return event;
}

}  // namespace

std::vector<RunEvent> read_events(const std::filesystem::path& file) {
    std::vector<RunEvent> events;
    std::istringstream lines(read_file(file));
    for (std::string line; std::getline(lines, line);) try {
            events.push_back(event_of(nlohmann::json::parse(line)));
        } catch (const std::exception&) {}
    return events;
}

void EventsFile::append(std::string_view event, const ordered_json& details) {
    check(details.is_object(), "an event's details are an object");
    ordered_json line = {{"time", time_text()}, {"event", event}};
    for (const auto& [key, value] : details.items()) line[key] = value;
    lines_.append(line.dump(-1, ' ', false, ordered_json::error_handler_t::replace));
}

void EventsFile::append(std::string_view event) { append(event, ordered_json::object()); }

}  // namespace bertpretrain
