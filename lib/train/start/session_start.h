#pragma once
// What a start or resume says and records before its first step.

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "plan/run_plan.h"
#include "train/start/resume.h"

namespace bertpretrain {

/// Logs the settings that are not the checkpoint's: as lines of information where steps follow, or as a warning where the run is
/// complete, so that no step uses them.
/// @param trains whether steps follow
void tell_changed_settings(const ResumePoint& point, const RunPlan& plan, bool trains);

/// Warns if other kernels computed the checkpoint than `now`.
void tell_other_kernels(const ResumePoint& point, const std::string& now);

}  // namespace bertpretrain
