#pragma once
// Detects a run that hangs, and where.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "config/field.h"
#include "telemetry/phase_clock.h"

namespace bertpretrain {

/// Time limits in seconds without a sign of life, by phase; 0: no limit.
struct WatchdogConfig {
    double first_step_seconds = 3600;
    double data_seconds = 1800;
    double forward_seconds = 600;
    double backward_seconds = 600;
    double communication_seconds = 900;
    double update_seconds = 600;
    double saving_seconds = 1800;
    double evaluation_seconds = 600;

    static void describe(auto& self, auto&& field) {
        const auto limit = [&](const char* name, auto& seconds, const char* meaning) {
            field(name, seconds, between(0, 1e6), meaning, Resume::may_change);
        };
        limit("first_step_seconds", self.first_step_seconds,
              "Limit in seconds without a sign of life, in any phase, until the first step after a start is done, including the "
              "check of all shards before it. When it is exceeded, the run logs the stack of "
              "each thread "
              "and ends with exit code 5. 0: no limit.");
        limit("data_seconds", self.data_seconds, "Limit in seconds of waiting for a step's samples. 0: no limit.");
        limit("forward_seconds", self.forward_seconds, "Limit in seconds of one layer's forward pass. 0: no limit.");
        limit("backward_seconds", self.backward_seconds, "Limit in seconds of one micro-batch's backward pass. 0: no limit.");
        limit("communication_seconds", self.communication_seconds,
              "Limit in seconds of waiting for other ranks. Keep it above parallel.timeout_seconds, whose error names a lost "
              "rank. 0: no limit.");
        limit("update_seconds", self.update_seconds, "Limit in seconds of the optimizer's update. 0: no limit.");
        limit("saving_seconds", self.saving_seconds,
              "Limit in seconds of writing one part of a checkpoint or one line of the metrics. 0: no limit.");
        limit("evaluation_seconds", self.evaluation_seconds,
              "Limit in seconds of evaluating one batch of held-out samples. 0: no limit.");
    }

    double limit_of(Phase phase) const;
};

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
