#pragma once
// Which library multiplies bf16 matrices in a run: found once, kept by every resume.

#include "parallel/control_group.h"
#include "plan/run_plan.h"

namespace bertpretrain {

/// Fills in plan.compute.matmul, the same on all ranks, and puts it to use in this process. Where it is to be measured, rank 0
/// measures while the others wait. It stays empty where no rank has a choice (fp32, GPUs, CPUs without bf16 matmuls).
void choose_matmul_libraries(ControlGroup& ranks, RunPlan& plan);

}  // namespace bertpretrain
