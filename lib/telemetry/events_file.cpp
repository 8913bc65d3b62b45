#include "telemetry/events_file.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace bertpretrain {
namespace {

using nlohmann::ordered_json;

/// Formats a time as ISO 8601 in UTC, with milliseconds.
std::string time_text(double time) {
    const auto now = std::llround(time * 1000);
    const std::time_t seconds = now / 1000;
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    char text[32];
    const std::size_t size = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    const std::string thousandths = std::to_string(1000 + now % 1000).substr(1);
    return std::string(text, size) + "." + thousandths + "Z";
}

/// The inverse of time_text(). @throws DataError for any other text
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

bool is_possible_event(const RunEvent& event) {
    constexpr double latest = 95617584000;  // the year 5000
    constexpr std::int64_t most_ranks = 1'000'000;
    const auto is_time = [](double time) { return time >= 0 && time <= latest; };
    const auto is_duration = [&](double seconds) { return seconds == -1 || is_time(seconds); };
    return is_time(event.time) && is_time(event.lost_until) && is_duration(event.elapsed_seconds) &&
           is_duration(event.lost_until_elapsed) && event.step >= 0 && event.ranks >= 0 && event.ranks <= most_ranks &&
           event.samples_per_epoch >= 0 && event.lost_steps >= 0;
}

RunEvent event_of(const nlohmann::json& line) {
    RunEvent event;
    event.time = time_of(line.at("time").get<std::string>());
    event.name = line.at("event").get<std::string>();
    event.step = line.value("step", std::int64_t{0});
    event.ranks = line.value("ranks", std::int64_t{0});
    event.samples_per_epoch = line.value("samples_per_epoch", std::int64_t{0});
    event.settings = line.value("settings", std::string());
    event.computed_by = line.value("computed_by", std::string());
    event.sums = line.value("sums", std::string());
    event.held_out = line.value("held_out", std::string());
    event.lost_steps = line.value("lost_steps", std::int64_t{0});
    event.lost_until = line.value("lost_until", 0.0);
    event.elapsed_seconds = line.value("elapsed_seconds", -1.0);
    event.lost_until_elapsed = line.value("lost_until_elapsed", -1.0);
    if (!is_possible_event(event)) throw DataError("not possible");
    return event;
}

}  // namespace

std::vector<RunEvent> read_events(const std::filesystem::path& file) {
    std::vector<RunEvent> events;
    std::ifstream lines(file, std::ios::binary);
    if (!lines || std::filesystem::is_directory(file))
        throw DataError(concat(file.string(), ": cannot be read (", std::strerror(errno), ")"));
    for (std::string line; std::getline(lines, line);) try {
            events.push_back(event_of(nlohmann::json::parse(line)));
        } catch (const std::exception&) {}
    return events;
}

void EventsFile::append(std::string_view event, const ordered_json& details, double time) {
    check(details.is_object(), "an event's details are a JSON object");
    ordered_json line = {{"time", time_text(time)}, {"event", event}};
    for (const auto& [key, value] : details.items()) line[key] = value;
    const std::string text = line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    lines_.append(text);
    if (listener_) listener_(text);
}

void EventsFile::append(std::string_view event) { append(event, ordered_json::object()); }

}  // namespace bertpretrain
