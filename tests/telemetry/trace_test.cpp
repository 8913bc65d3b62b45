#include "telemetry/trace.h"

#include <map>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using nlohmann::json;

namespace {

void take_steps(int count) {
    for (int step = 0; step < count; ++step) {
        const TraceStep whole;
        { const TraceSpan span("inner"); }
        std::thread([] { const TraceSpan span("other thread"); }).join();
    }
}

}  // namespace

TEST_CASE("a trace contains the spans of all threads during the requested steps, in Chrome's format") {
    const TemporaryFolder folder;
    {
        const Trace trace(folder / "trace.json", 3, 2, 4);
        take_steps(2);
        { const TraceSpan before("before"); }
        take_steps(4);
        CHECK(std::filesystem::exists(folder / "trace.json"));  // after the last step, not only at the end
        take_steps(2);
    }
    const json trace = json::parse(read_text(folder / "trace.json"));
    CHECK(trace.at("displayTimeUnit") == "ms");
    std::map<std::string, int> spans;
    std::set<std::int64_t> threads;
    for (const json& event : trace.at("traceEvents")) {
        CHECK(event.at("pid") == 3);
        if (event.at("ph") == "M") continue;
        CHECK(event.at("ph") == "X");
        CHECK(event.at("ts").is_number());
        CHECK(event.at("dur") >= 0);
        threads.insert(event.at("tid").get<std::int64_t>());
        ++spans[event.at("name").get<std::string>()];
    }
    CHECK(spans == std::map<std::string, int>{{"step", 4}, {"inner", 4}, {"other thread", 4}});
    CHECK(threads.size() > 1);
}

TEST_CASE("a trace of a run that ends early contains the spans so far, and without a trace no span is kept") {
    const TemporaryFolder folder;
    {
        const Trace trace(folder / "trace.json", 0, 0, 10);
        take_steps(3);
    }
    const std::string text = read_text(folder / "trace.json");
    CHECK(json::parse(text).at("traceEvents").size() == 10);
    take_steps(3);
    CHECK(read_text(folder / "trace.json") == text);
    {
        const Trace nowhere(folder / "absent/trace.json", 0, 0, 1);
        CHECK_NOTHROW(take_steps(1));
    }
}

TEST_CASE("spans on a device have their own named row in the trace") {
    const TemporaryFolder folder;
    CHECK_FALSE(trace_is_kept());
    {
        const Trace trace(folder / "trace.json", 0, 0, 1);
        const TraceStep step;
        CHECK(trace_is_kept());
        { const TraceSpan of_thread("computes"); }
        trace_span("all-gather", 1, 2, "NCCL");
        trace_span("all-gather", 3, 4, "NCCL");
    }
    std::map<std::string, std::set<std::int64_t>> rows;
    json name_of_row;
    const json written = json::parse(read_text(folder / "trace.json"));
    for (const json& event : written.at("traceEvents")) {
        if (event.at("ph") == "X") rows[event.at("name").get<std::string>()].insert(event.at("tid").get<std::int64_t>());
        if (event.at("name") == "thread_name") name_of_row = event;
    }
    REQUIRE(rows["all-gather"].size() == 1);
    CHECK(rows["all-gather"] != rows["computes"]);
    CHECK(name_of_row.at("tid") == *rows["all-gather"].begin());
    CHECK(name_of_row.at("args").at("name") == "NCCL");
}
