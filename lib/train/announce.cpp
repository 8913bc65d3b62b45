#include "train/announce.h"

#include <algorithm>
#include <numeric>

#include <ATen/Parallel.h>

#include "config/write.h"
#include "core/output/log.h"
#include "core/strings.h"
#include "kernels/cpu/instruction_set.h"
#include "plan/kept_choices.h"

namespace bertpretrain {
namespace {

/// @param samples of the whole run
void announce_sources(const TrainerParts& parts, std::int64_t samples) {
    const std::vector<std::int64_t>& rows = parts.loader->rows_of_sources();
    const std::vector<std::int64_t> of_run = parts.loader->mixture().counts(samples);
    const auto epochs = [&](std::size_t i) {
        return fixed(static_cast<double>(of_run[i]) / static_cast<double>(rows[i]), 2) + " epochs";
    };
    if (rows.size() == 1)
        return log_info(concat("one epoch         ", with_thousands(rows[0]), " samples; the run takes ", epochs(0)));
    const DataPlan& data = parts.plan.data;
    const auto sum = static_cast<double>(std::accumulate(data.shares.begin(), data.shares.end(), std::int64_t{0}));
    for (std::size_t i = 0; i < rows.size(); ++i)
        log_info(concat("source            ", data.source_names[i], ": ",
                        fixed(100 * static_cast<double>(data.shares[i]) / sum, 2), " % of the samples; one epoch is ",
                        with_thousands(rows[i]), " samples; the run takes ", epochs(i)));
}

void announce_batches(const TrainerParts& parts) {
    const RunPlan& plan = parts.plan;
    const std::int64_t ranks = plan.parallel.world_size, pass = plan.pass_size(), global_batch = plan.global_batch();
    log_info(concat("global batch      ", with_thousands(global_batch), " sequences, on each rank in ",
                    (global_batch + ranks * pass - 1) / (ranks * pass), " micro-batch(es) of up to ", pass));
    if (const BatchConfig& batch = plan.settings.batch; batch.warmup_steps > 0)
        log_info(concat("batch warm-up     from ", with_thousands(batch.warmup_from), " sequences by ",
                        with_thousands(batch.warmup_increment), " at a time, in ", with_thousands(batch.warmup_steps), " steps"));
    announce_sources(parts, parts.loader->batch_sizes().samples_before(plan.settings.schedule.total_steps + 1));
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
    if (const auto& mirror = parts.plan.checkpoint.mirror) log_info(concat("mirror            ", mirror->text()));
    log_info(concat("run folder        ", parts.folder->paths().folder().string()));
    const auto apart = std::count(parts.sees_folder.begin(), parts.sees_folder.end(), false);
    if (apart > 0)
        log_info(concat("                  ", apart, " of ", ranks, " ranks do not see it: their part of each checkpoint goes ",
                        "through rank 0"));
}

}  // namespace bertpretrain
