#pragma once
// Detects a run that hangs, and where.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "plan/watchdog_config.h"
#include "telemetry/phase_clock.h"

namespace bertpretrain {

/// Returns the limit of a phase after the first step, in seconds; 0: no limit.
double limit_of(const WatchdogConfig& limits, Phase phase);

/// A thread that watches a PhaseClock. Time in which this process itself was stopped (SIGSTOP, a suspended machine) does not
/// count.
class Watchdog {
public:
    /// @param clock must outlive this object
    /// @param on_hang called at most once, from the watchdog's thread, with a description of the limit that was exceeded
    Watchdog(const WatchdogConfig& limits, const PhaseClock& clock, std::function<void(const std::string& what)> on_hang);
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// Ends the start: from now on each phase has its own limit.
    void first_step_is_done() { warm_ = true; }

private:
    void watch(const std::stop_token& stop);
    double limit_of(Phase phase) const;

    const WatchdogConfig limits_;
    const PhaseClock& clock_;
    const std::function<void(const std::string& what)> on_hang_;
    std::atomic<bool> warm_ = false;
    std::mutex mutex_;
    std::condition_variable_any wake_;
    std::jthread thread_;  ///< last member: ends before what it uses is destroyed
};

}  // namespace bertpretrain
