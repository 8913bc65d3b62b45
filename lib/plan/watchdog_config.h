#pragma once
// The watchdog's limits: see train/watchdog.h.

#include "config/field.h"

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
};

}  // namespace bertpretrain
