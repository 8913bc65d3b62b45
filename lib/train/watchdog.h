#pragma once
// Ends a run that hangs, and says where it hung.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "config/field.h"
#include "telemetry/phase_clock.h"

namespace bertpretrain {

/// Seconds without a sign of life; 0: as long as it takes.
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
              "Of anything, until a step is done after a start, and of looking through all shards before it: after so long "
              "without a sign of life the run says where each "
              "thread "
              "stands and ends with exit 5. 0: never.");
        limit("data_seconds", self.data_seconds, "The same, waiting for a step's samples.");
        limit("forward_seconds", self.forward_seconds, "One layer's forward.");
        limit("backward_seconds", self.backward_seconds, "One micro-batch's backward.");
        limit("communication_seconds", self.communication_seconds,
              "Waiting for other ranks; above parallel.timeout_seconds, which names a lost one.");
        limit("update_seconds", self.update_seconds, "The optimizer's update.");
        limit("saving_seconds", self.saving_seconds,
              "Waiting for the next part of a checkpoint, or for one line of the metrics, to be written.");
        limit("evaluation_seconds", self.evaluation_seconds, "One batch of held-out samples.");
    }

    double limit_of(Phase phase) const;
};

/// A thread that looks at a PhaseClock. Time in which this process itself stood still (SIGSTOP, a suspended machine) does not
/// count.
class Watchdog {
public:
    /// @param on_hang called once, from the watchdog's thread, with what has taken too long
    /// @param clock must outlive it
    Watchdog(const WatchdogConfig& limits, const PhaseClock& clock, std::function<void(const std::string& what)> on_hang);
    Watchdog(const Watchdog&) = delete;
    Watchdog& operator=(const Watchdog&) = delete;

    /// From now on each phase has its own limit.
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
    std::jthread thread_;  ///< last: it ends before what it uses
};

}  // namespace bertpretrain
