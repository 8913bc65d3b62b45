// How busy this process keeps its cores.
#include "telemetry/device_usage.h"

#include <ctime>
#include <vector>

#include "core/clock.h"
#include "support/catch.h"
#include "support/process.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("a process that sleeps uses no core; one that computes uses one, however many there are") {
    DeviceUsageMeter meter(std::nullopt, 4);
    sleep_seconds(0.2);
    CHECK(meter.sample().utilization < 0.05);
    const double begin = seconds_now();
    std::timespec used_before{}, used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used_before);
    while (seconds_now() < begin + 0.2) {}
    const double share = meter.sample().utilization, seconds = seconds_now() - begin;
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    const double computed =
        static_cast<double>(used.tv_sec - used_before.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec - used_before.tv_nsec);
    CHECK(share == Approx(computed / seconds / 4).epsilon(0.05));  // a busy machine may not have given us the whole core
    CHECK(share <= 0.26);
}

TEST_CASE("memory that is touched counts") {
    DeviceUsageMeter meter(std::nullopt, 1);
    const double before = meter.sample().memory_bytes;
    std::vector<char> touched(64 << 20, 1);
    CHECK(meter.sample().memory_bytes - before == Approx(64 << 20).epsilon(0.1));
    CHECK(touched.back() == 1);
}
