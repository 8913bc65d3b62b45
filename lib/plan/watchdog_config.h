#pragma once
// Settings of the watchdog (train/stop/watchdog.h).

#include "config/field.h"

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
              "check of all shards before it. When it is exceeded, the run logs the stack of each thread and ends with exit "
              "code 5. 0: no limit.");
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
};

}  // namespace bertpretrain
