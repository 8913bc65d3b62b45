#include "train/start/session_start.h"

#include <vector>

#include "config/write.h"
#include "core/output/log.h"
#include "core/strings.h"

namespace bertpretrain {

void tell_changed_settings(const ResumePoint& point, const RunPlan& plan, bool trains) {
    ExperimentConfig saved = facts_of(point).settings;
    saved.batch.global_batch_size = point.progress.global_batch_sequences;  // older checkpoints may say 0
    std::string changed;
    for (const Difference& difference : compare_configs(saved, plan.settings))
        changed += concat("\n  ", difference.path, ": ", difference.value_a, " in the checkpoint, ", difference.value_b, " now");
    if (changed.empty()) return;
    if (trains) return log_info(concat("settings that change from step ", point.step + 1, " on:", changed));
    log_warning(
        concat("the run is complete at step ", point.step, ", and no step of it was trained with these settings:", changed,
               "\n  they are not used and not recorded\n  do: train on with a larger schedule.total_steps, or train into ",
               "another folder with --output"));
}

void tell_other_kernels(const ResumePoint& point, const std::string& now) {
    const std::string& before = point.progress.kernels;
    if (!before.empty() && before != now)
        log_warning(concat("the checkpoint was computed by the kernels for ", before, ", from here on those for ", now,
                           " compute: the run goes on, but not to the bit as it would have"));
}

}  // namespace bertpretrain
