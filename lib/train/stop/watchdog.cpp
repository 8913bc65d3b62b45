#include "train/stop/watchdog.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "core/clock.h"
#include "core/concat.h"

namespace bertpretrain {
namespace {

double shortest_limit(const WatchdogConfig& limits) {
    double shortest = std::numeric_limits<double>::infinity();
    for_each_field(limits, [&](const FieldInfo&, double seconds) {
        if (seconds > 0) shortest = std::min(shortest, seconds);
    });
    return shortest;
}

}  // namespace

double limit_of(const WatchdogConfig& limits, Phase phase) {
    switch (phase) {
        case Phase::none:
            return 0;
        case Phase::start:
            return limits.first_step_seconds;
        case Phase::data:
            return limits.data_seconds;
        case Phase::forward:
            return limits.forward_seconds;
        case Phase::backward:
            return limits.backward_seconds;
        case Phase::communication:
            return limits.communication_seconds;
        case Phase::update:
            return limits.update_seconds;
        case Phase::saving:
            return limits.saving_seconds;
        case Phase::evaluation:
            return limits.evaluation_seconds;
    }
    return 0;
}

Watchdog::Watchdog(const WatchdogConfig& limits, const PhaseClock& clock, std::function<void(const std::string& what)> on_hang)
    : limits_(limits), clock_(clock), on_hang_(std::move(on_hang)) {
    if (shortest_limit(limits) < std::numeric_limits<double>::infinity())
        thread_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

double Watchdog::limit_of(Phase phase) const {
    return warm_ || phase == Phase::none ? bertpretrain::limit_of(limits_, phase) : limits_.first_step_seconds;
}

void Watchdog::watch(const std::stop_token& stop) {
    const double pause = std::clamp(shortest_limit(limits_) / 20, 0.01, 1.0);
    PhaseClock::Look last = clock_.look();
    double waited = 0, then = seconds_now();
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, stop, std::chrono::duration<double>(pause), [&] { return stop.stop_requested(); })) {
        const PhaseClock::Look now = clock_.look();
        const double time = seconds_now();
        // A pause much longer than requested means that this process was stopped; its excess does not count.
        waited = now == last ? waited + std::min(time - then, 2 * pause) : 0;
        last = now;
        then = time;
        const double limit = limit_of(now.phase);
        if (limit == 0 || waited < limit) continue;
        on_hang_(concat("no sign of life for ", limit, " s in ", name_of(now.phase), " (watchdog.",
                        warm_ ? concat(name_of(now.phase), "_seconds)") : "first_step_seconds)"));
        return;
    }
}

}  // namespace bertpretrain
