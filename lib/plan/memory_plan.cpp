#include "plan/memory_plan.h"

#include <algorithm>

#include "batches/sample_order.h"
#include "core/error.h"
#include "core/strings.h"
#include "kernels/cpu/attention/memory.h"
#include "model/architecture.h"
#include "model/gradient_storage.h"
#include "operations/machine_memory.h"

namespace bertpretrain {
namespace {

/// Resident memory of a run whose model is next to nothing.
constexpr std::uint64_t program_bytes = std::uint64_t{130} << 20;

/// Returns the bytes per token in which GPUs keep the dropout masks of one layer's attention in bf16, one bit per probability
/// (kernels/cuda/attention_inputs.h). CPUs keep none, so for them the plan is up to 3 % too high.
/// @param window  of the layer; 0: none
double mask_bytes(const RunPlan& plan, std::int64_t window) {
    constexpr std::int64_t keys_per_group = 128, bytes_per_group = 16;
    const ModelShape model = shape_of(plan.settings.model);
    const auto groups_of = [](std::int64_t keys) { return (keys + keys_per_group - 1) / keys_per_group; };
    const std::int64_t length = plan.settings.data.sequence_length, heads = model.num_attention_heads, size = model.head_size(),
                       groups = window > 0 ? std::min(groups_of(length), 1 + 2 * groups_of(window)) : groups_of(length);
    const bool has_kernels = size == 32 || size == 64 || (size == 128 && length <= 128),
               keeps = plan.compute.dtype == at::kBFloat16 && model.attention_dropout > 0 && has_kernels;
    return keeps ? static_cast<double>(heads * groups * bytes_per_group) : 0;
}

std::uint64_t activations_of(const RunPlan& plan) {
    ActivationShape shape;
    shape.sequences = plan.full_sequences_of_pass();
    shape.tokens = shape.sequences * plan.settings.data.sequence_length;
    shape.masked = static_cast<std::int64_t>(plan.data.masked_lm_prob * static_cast<double>(shape.tokens));
    shape.bf16 = plan.compute.dtype == at::kBFloat16;
    shape.bf16_residual = plan.compute.residual_dtype == at::kBFloat16;
    shape.fp8_matmuls = plan.compute.on_gpu && plan.settings.training.fp8_matmuls;
    shape.widened_bytes = shape.bf16 && !plan.compute.on_gpu && !plan.compute.chooses_matmul ? sizeof(float) : 0;
    shape.checkpointing = plan.settings.training.activation_checkpointing;
    shape.mask_bytes = mask_bytes(plan, 0);
    shape.local_mask_bytes = mask_bytes(plan, shape_of(plan.settings.model).window);
    return activation_bytes(plan.settings.model, shape);
}

/// A thread works on one head of one sequence at a time, and keeps the memory for the next one.
std::uint64_t attention_of(const RunPlan& plan, std::int64_t threads) {
    if (plan.compute.on_gpu) return 0;
    const ModelShape model = shape_of(plan.settings.model);
    const std::int64_t busy = std::min(threads, plan.full_sequences_of_pass() * model.num_attention_heads);
    return static_cast<std::uint64_t>(busy) *
           cpu::attention_memory_of_thread(plan.settings.data.sequence_length, model.head_size(), plan.compute.dtype);
}

/// A stored row is its tokens' ids, masks and segments, and a position and a label per masked token.
std::uint64_t data_of(const RunPlan& plan, std::int64_t ranks, std::int64_t rows) {
    constexpr std::int64_t window = SampleOrder::default_window_rows, windows = 2;
    const double bytes_per_token = 6 + 8 * plan.data.stored_masked_lm_prob;
    const std::int64_t most = std::ssize(plan.data.training_shards) * windows * window;
    const std::int64_t held = rows > 0 ? std::min(rows, most) : most;
    const std::int64_t tokens = held / ranks * plan.settings.data.sequence_length;
    return static_cast<std::uint64_t>(static_cast<double>(tokens) * bytes_per_token);
}

}  // namespace

std::string MemoryPlan::text() const {
    return concat("weights ", bytes_text(weights), ", gradients ", bytes_text(gradients), ", optimizer ", bytes_text(optimizer),
                  transfer > 0 ? concat(", transfer ", bytes_text(transfer)) : "",
                  attention > 0 ? concat(", attention ", bytes_text(attention)) : "",
                  snapshot > 0 ? concat(", snapshot ", bytes_text(snapshot)) : "", ", activations ", bytes_text(activations),
                  ", data ", bytes_text(data), ", program ", bytes_text(program));
}

MemoryPlan plan_memory(const RunPlan& plan, const ParameterLayout& layout, std::int64_t threads, std::int64_t rows) {
    const auto elements = static_cast<std::uint64_t>(layout.flat_elements());
    const auto slice = static_cast<std::uint64_t>(layout.slice_elements());
    std::uint64_t exempt = 0;
    for (const PlacedParameter& parameter : layout.parameters())
        if (!parameter.spec.decays) exempt += static_cast<std::uint64_t>(parameter.spec.elements());
    MemoryPlan memory;
    memory.weights = elements * (plan.compute.dtype == at::kBFloat16 ? 2 : 4) + exempt * 4;
    const bool bf16_gradients = plan.parallel.gradients == FlatParameters::Gradients::bf16;
    memory.gradients = static_cast<std::uint64_t>(GradientStorage::bytes(layout, bf16_gradients));
    memory.optimizer = (plan.settings.parallel.zero_stage == 1 ? slice : elements) * 12;
    if (plan.checkpoint.snapshots) memory.snapshot = slice * 12;
    memory.attention = attention_of(plan, threads);
    memory.activations = activations_of(plan);
    memory.data = data_of(plan, layout.shards(), rows);
    memory.program = program_bytes;
    if (layout.shards() == 1) return memory;
    const std::uint64_t parts = bf16_gradients || plan.parallel.reduce_dtype == at::kBFloat16 ? 2 : 4;
    const std::uint64_t rounded_copy = parts == 2 && !bf16_gradients ? 2 : 0;
    std::uint64_t largest[2] = {0, 0};  // buckets take turns in two rooms
    for (std::size_t i = 0; i < layout.buckets().size(); ++i)
        largest[i % 2] = std::max(largest[i % 2], static_cast<std::uint64_t>(layout.buckets()[i].elements()));
    // In two stages, the sums of a host need as much room again where it has two ranks, and less where it has more.
    const std::uint64_t rooms = plan.parallel.in_stages && (!plan.compute.on_gpu || parts == 2) ? 2 : 1;
    memory.transfer = (largest[0] + largest[1]) * (rooms * parts + rounded_copy);
    // Gloo and the heaps of its threads hold copies of their own; measured on two ranks
    memory.program += std::max(largest[0], largest[1]) * 4 * 5 / 2;
    return memory;
}

std::vector<std::int64_t> pass_sizes(std::int64_t micro_batch_size, std::int64_t sequences_of_rank) {
    const std::int64_t micro_batches = (sequences_of_rank + micro_batch_size - 1) / micro_batch_size;
    std::vector<std::int64_t> sizes;
    for (std::int64_t merged = 1; merged <= micro_batches; ++merged)
        if (micro_batches % merged == 0) sizes.push_back(merged * micro_batch_size);
    return sizes;
}

std::int64_t planned_pass(const RunPlan& plan, const ParameterLayout& layout, double most_bytes, double most_tokens) {
    if (!plan.batch.measures_pass) return plan.full_sequences_of_pass();
    const std::int64_t micro_batch_size = plan.settings.batch.micro_batch_size;
    std::int64_t found = micro_batch_size;
    RunPlan tried = plan;
    for (const std::int64_t sequences :
         pass_sizes(micro_batch_size, (plan.global_batch() + layout.shards() - 1) / layout.shards())) {
        if (static_cast<double>(sequences * plan.settings.data.sequence_length) > most_tokens) break;
        tried.batch.device_micro_batch = sequences;
        if (static_cast<double>(plan_memory(tried, layout, 1).on_gpu()) > most_bytes) break;
        found = sequences;
    }
    tried.batch.device_micro_batch = found;
    return tried.full_sequences_of_pass();
}

void refuse_too_large(const MemoryPlan& memory, std::int64_t parameters, std::int64_t sequence_length, std::int64_t ranks_here) {
    const std::uint64_t needed = memory.total() * static_cast<std::uint64_t>(ranks_here);
    const std::uint64_t there = host_memory_limit();
    if (needed <= there) return;
    const bool by_attention = memory.attention > memory.total() / 2;
    throw ConfigError(concat(
        "model: ", with_thousands(parameters), " parameters and sequences of ", sequence_length, " tokens need ",
        bytes_text(needed), " of memory for weights, gradients, optimizer state, a snapshot of it and attention",
        ranks_here > 1 ? concat(" of the ", ranks_here, " ranks on this machine") : "", ", and this machine or container has ",
        bytes_text(there), "\n  of one rank: ", memory.text(), "\n  do: ",
        by_attention ? "lower data.sequence_length, or compute with fewer threads (OMP_NUM_THREADS)" : "make the model smaller",
        memory.snapshot > 0 ? ", or do without the snapshot (checkpoint.background)" : ""));
}

}  // namespace bertpretrain
