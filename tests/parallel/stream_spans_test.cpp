#include "parallel/stream_spans.h"

#include <nlohmann/json.hpp>

#include "support/catch.h"
#include "support/fake_device.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

C10_REGISTER_GUARD_IMPL(PrivateUse1, FakeDevice);

constexpr c10::StreamId computing = 0, side = 1;

/// Simulates a backward pass in which an operation of `takes` ms begins after 10 ms and is waited for `hidden` ms later.
void overlap(StreamSpans& busy, StreamSpans& waited, double takes, double hidden) {
    FakeDevice::work(computing, 10);
    c10::Event ready(FakeDevice::kind);
    ready.record(FakeDevice::stream(computing));
    ready.block(FakeDevice::stream(side));
    const auto operation = busy.measure("reduce-scatter", FakeDevice::stream(side), [&] { FakeDevice::work(side, takes); });
    FakeDevice::work(computing, hidden);
    const c10::Stream stream = FakeDevice::stream(computing);
    waited.measure("waits", stream, [&] { operation->end.block(stream); });
}

}  // namespace

TEST_CASE("the exposed part of an operation on a side stream is the part that computation does not overlap") {
    FakeDevice::restart();
    StreamSpans busy(FakeDevice::kind, "NCCL"), waited(FakeDevice::kind, "GPU");
    overlap(busy, waited, 30, 12);
    CHECK(busy.seconds() == Approx(0.030));
    CHECK(waited.seconds() == Approx(0.018));
    overlap(busy, waited, 30, 40);  // all of it hidden
    CHECK(busy.seconds() == Approx(0.060));
    CHECK(waited.seconds() == Approx(0.018));
}

TEST_CASE("work that the device is still doing is counted later, without waiting") {
    FakeDevice::restart();
    FakeDevice::now = 25;
    StreamSpans busy(FakeDevice::kind, "NCCL"), waited(FakeDevice::kind, "GPU");
    overlap(busy, waited, 30, 12);
    CHECK(busy.seconds() == 0);
    CHECK(waited.seconds() == 0);
    FakeDevice::now = 100;
    CHECK(busy.seconds() == Approx(0.030));
    CHECK(waited.seconds() == Approx(0.018));
    CHECK(waited.seconds() == Approx(0.018));
}

TEST_CASE("a trace shows an operation at the time of the device's work, on the host's clock") {
    FakeDevice::restart();
    const TemporaryFolder folder;
    StreamSpans busy(FakeDevice::kind, "NCCL"), waited(FakeDevice::kind, "GPU");
    overlap(busy, waited, 5, 0);  // before the trace
    const double before = seconds_now();
    {
        const Trace trace(folder / "trace.json", 0, 0, 1);
        const TraceStep step;
        overlap(busy, waited, 30, 12);
        busy.seconds();
        waited.seconds();
    }
    const double after = seconds_now();
    std::map<std::string, nlohmann::json> spans;
    int count = 0;
    const nlohmann::json written = nlohmann::json::parse(read_text(folder / "trace.json"));
    for (const nlohmann::json& event : written.at("traceEvents"))
        if (event.at("ph") == "X") spans[event.at("name").get<std::string>()] = event, ++count;
    CHECK(count == 3);  // with the step
    CHECK(spans.at("reduce-scatter").at("dur").get<double>() == Approx(30e3));
    CHECK(spans.at("waits").at("dur").get<double>() == Approx(18e3));
    const double ts = spans.at("reduce-scatter").at("ts").get<double>() * 1e-6;
    CHECK((ts >= before && ts <= after));  // the anchor event's time: nothing was queued between it and the operation
}
