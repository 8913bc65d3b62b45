#include "train/announce.h"

#include <algorithm>

#include <ATen/Parallel.h>

#include "config/write.h"
#include "core/log.h"
#include "core/strings.h"
#include "kernels/cpu/instruction_set.h"
#include "plan/kept_choices.h"

namespace bertpretrain {
namespace {

void announce_batches(const TrainerParts& parts) {
    const RunPlan& plan = parts.plan;
    const std::int64_t ranks = plan.parallel.world_size, pass = plan.batch.pass_size(), global_batch = plan.batch.global_batch;
    const double rows = static_cast<double>(parts.loader->rows_per_epoch());
    log_info(concat("global batch      ", with_thousands(global_batch), " sequences, on each rank in ",
                    (global_batch + ranks * pass - 1) / (ranks * pass), " micro-batch(es) of up to ", pass));
    log_info(concat("one epoch         ", with_thousands(parts.loader->rows_per_epoch()), " samples; the run takes ",
                    fixed(static_cast<double>(plan.schedule.total_steps) * static_cast<double>(global_batch) / rows, 2),
                    " epochs"));
}

void announce_device(const TrainerParts& parts) {
    const ComputePlan& compute = parts.plan.compute;
    const at::Device device = parts.parameters->device();
    log_info(concat("device            ", device.str(), ", ", at::get_num_threads(), " threads"));
    if (device.is_cpu()) log_info(concat("instructions      ", cpu::name_of(cpu::instruction_set())));
    log_info(concat("matmuls           ", fixed(*compute.gemm_flops * 1e-12, 3), " TFLOP/s in ",
                    compute.dtype == at::kBFloat16 ? "bf16" : "fp32",
                    ": mfu is the share of it that the model's operations reach"));
    if (compute.matmul) log_info(concat("matmul library    ", matmul_text(*compute.matmul)));
    if (!parts.kernels.text.empty()) log_info(concat("GPU kernels       ", parts.kernels.text));
}

}  // namespace

void announce(const TrainerParts& parts, const MemoryPlan& memory, const std::string& space) {
    const std::int64_t ranks = parts.plan.parallel.world_size;
    log_info(settings_table(parts.plan.settings));
    log_info(concat("parameters        ", with_thousands(parts.parameters->layout().parameter_elements())));
    log_info(concat("ranks             ", ranks,
                    ranks > 1                     ? concat(", started by ", parts.launch.launcher)
                    : parts.world->communicates() ? concat(", connected with itself (", force_world_variable, ")")
                                                  : ""));
    announce_batches(parts);
    log_info(concat("memory per rank   ", memory.text()));
    if (ranks > 1)
        log_info(concat("traffic per rank  ", bytes_text(static_cast<std::uint64_t>(parts.buckets->bytes_per_step())),
                        " sent per step"));
    announce_device(parts);
    log_info(concat("checkpoints       ", space));
    log_info(concat("run folder        ", parts.folder->paths().folder().string()));
    const auto apart = std::count(parts.sees_folder.begin(), parts.sees_folder.end(), false);
    if (apart > 0)
        log_info(concat("                  ", apart, " of ", ranks, " ranks do not see it: their part of each checkpoint goes ",
                        "through rank 0"));
}

}  // namespace bertpretrain
