// Processor and memory use of this process.
#include "telemetry/device_usage.h"

#include <ctime>
#include <vector>

#include "core/clock.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Returns the processor seconds that this process has used.
double processor_seconds() {
    std::timespec used{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec);
}

}  // namespace

TEST_CASE("a sleeping process uses no core, and a computing one uses one core of any number") {
    DeviceUsageMeter meter(std::nullopt, 4);
    sleep_seconds(0.2);
    const double begin_outside = seconds_now(), used_outside = processor_seconds();
    CHECK(meter.sample().utilization < 0.05);
    const double begin_inside = seconds_now(), used_inside = processor_seconds();
    while (seconds_now() < begin_inside + 0.2) {}
    const double least_used = processor_seconds() - used_inside, least_seconds = seconds_now() - begin_inside;
    const double share = meter.sample().utilization;
    const double most_used = processor_seconds() - used_outside, most_seconds = seconds_now() - begin_outside;
    // On a busy machine, the process may be preempted between any two of these lines, or not get a whole core.
    CHECK(share >= least_used / most_seconds / 4);
    CHECK(share <= most_used / least_seconds / 4);
    CHECK(share <= 0.26);
}

TEST_CASE("touched memory is counted") {
#ifdef __SANITIZE_THREAD__
    SKIP_TEST(testing::skip::sanitizer, "the thread sanitizer uses several times the memory itself");
#endif
    DeviceUsageMeter meter(std::nullopt, 1);
    const double before = meter.sample().memory_bytes;
    std::vector<char> touched(64 << 20, 1);
    CHECK(meter.sample().memory_bytes - before == Approx(64 << 20).epsilon(0.1));
    CHECK(touched.back() == 1);
}
