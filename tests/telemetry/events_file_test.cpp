#include "telemetry/events_file.h"

#include <regex>
#include <sstream>

#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using testing::TemporaryFolder;

TEST_CASE("an event is a line with its time in UTC, its name, then its details in order") {
    const TemporaryFolder folder;
    EventsFile(folder / "events.jsonl").append("started", {{"step", 0}, {"about", "a\nb"}});
    EventsFile(folder / "events.jsonl").append("stopped");
    std::istringstream lines(testing::read_text(folder / "events.jsonl"));
    std::string first, second, third;
    std::getline(lines, first);
    std::getline(lines, second);
    CHECK_FALSE(std::getline(lines, third));
    const std::string time = R"x(\{"time":"20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\d\.\d\d\dZ",)x";
    CHECK(std::regex_match(first, std::regex(time + R"x("event":"started","step":0,"about":"a\\nb"\})x")));
    CHECK(std::regex_match(second, std::regex(time + R"x("event":"stopped"\})x")));
}

TEST_CASE("an event's text that is not UTF-8 is still written") {
    const TemporaryFolder folder;
    EventsFile(folder / "events.jsonl").append("stopped", {{"cause", "\xff"}});
    CHECK(nlohmann::json::parse(testing::read_text(folder / "events.jsonl")).at("cause") == "\xef\xbf\xbd");
}
