#include "train/step/stream_stopwatch.h"

#include "support/catch.h"
#include "support/fake_device.h"

using namespace bertpretrain;
using bertpretrain::testing::FakeDevice;

namespace {

C10_REGISTER_GUARD_IMPL(PrivateUse1, FakeDevice);

}  // namespace

TEST_CASE("a stopwatch measures its stream from the first start to the stop") {
    FakeDevice::restart();
    StreamStopwatch watch(FakeDevice::device);
    CHECK(watch.stop() == 0);
    for (int step = 0; step < 2; ++step) {
        watch.start();
        FakeDevice::work(0, 30);
        watch.start();
        FakeDevice::work(0, 20);
        CHECK(watch.stop() == Approx(0.050));
    }
}

TEST_CASE("a step that was interrupted is not counted in the next one") {
    FakeDevice::restart();
    StreamStopwatch watch(FakeDevice::device);
    watch.start();
    FakeDevice::work(0, 1000);  // interrupted: no stop
    watch.reset();
    FakeDevice::work(0, 500);
    watch.start();
    FakeDevice::work(0, 20);
    CHECK(watch.stop() == Approx(0.020));
}
