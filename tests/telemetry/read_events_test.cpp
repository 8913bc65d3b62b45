#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "support/catch.h"
#include "support/files.h"
#include "telemetry/events_file.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("events are read back with their time, and lines that cannot be parsed are skipped") {
    const TemporaryFolder folder;
    write_text(folder / "events.jsonl",
               "{\"time\":\"2024-05-01T12:00:00.125Z\",\"event\":\"resume\",\"step\":10,\"ranks\":4}\nnonsense\n"
               "{\"time\":\"yesterday\",\"event\":\"stop\"}\n");
    EventsFile(folder / "events.jsonl").append("stop", {{"step", 12}});
    const auto events = read_events(folder / "events.jsonl");
    REQUIRE(events.size() == 2);
    CHECK(events[0].time == 1714564800.125);
    CHECK(events[0].name == "resume");
    CHECK(events[0].step == 10);
    CHECK(events[0].ranks == 4);
    CHECK(events[1].name == "stop");
    CHECK(events[1].time == Approx(unix_seconds_now()).margin(60));
}
