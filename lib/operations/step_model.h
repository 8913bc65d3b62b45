#pragma once
// Predicts the duration of an optimizer step.

#include <cstdint>
#include <vector>

#include "model/architecture.h"
#include "model/parameter_layout.h"
#include "operations/fabric.h"

namespace bertpretrain {

/// The model, the batch, and how the ranks share the work.
struct PlannedStep {
    ModelConfig model;
    std::int64_t world_size = 1;
    double tokens_per_sequence = 128, masked_per_sequence = 20;
    std::int64_t micro_batch_size = 16;
    std::int64_t global_batch = 16;  ///< sequences per step over all ranks
    std::int64_t zero_stage = 1;
    double gradient_bytes = 4;  ///< bytes per parameter in which gradients are sent
    double weight_bytes = 2;    ///< bytes per parameter in which weights are gathered; biases and LayerNorm: always 4
    double bucket_mib = 64;
    bool overlaps = true;           ///< false: communication begins when computing ends, as in programs without buckets
    double optimizer_traffic = 44;  ///< bytes of memory traffic to update one parameter: LAMB in two passes
    /// Whether gradients are reduced in the two stages of parallel/node_route.h, as bf16 is on GPUs, and not by the library's
    /// ring. On CPUs everything goes in two stages.
    bool in_stages = false;
    bool chooses_dtype = false;  ///< reduce_dtype auto: gradients are sent in fp32 where bf16 does not pay
    /// Small messages between all ranks, through the hosts, that a step waits for. One after backward has the losses, the
    /// gradient norm and the next step's counts; the second, of tensors' norms, is sent by optimizers other than AdamW at ZeRO
    /// stage 1.
    std::int64_t messages = 2;
    std::int64_t small_collectives = 0;  ///< likewise, by the library of the accelerators, in other programs

    /// Micro-batches per rank and step.
    std::int64_t accumulation() const;
    /// Floating-point operations per sequence, forward and backward.
    double flops_per_sequence() const;
    ParameterLayout layout() const;
};

/// Seconds of a step and its parts; total() is the wall time.
struct StepTime {
    double computing = 0;       ///< forward and backward of all micro-batches
    double optimizer = 0;       ///< the update, and the small exchanges that it waits for
    double communication = 0;   ///< reducing gradients and gathering weights
    double slowed = 0;          ///< by which computing is slower while communication overlaps with it
    double exposed_reduce = 0;  ///< part of communication not hidden by backward
    double exposed_gather = 0;  ///< part of communication not hidden by the next forward
    double exposed() const { return exposed_reduce + exposed_gather; }
    double total() const { return computing + slowed + optimizer + exposed(); }
};

/// Returns the seconds of a reduce-scatter or an all-gather in a ring of W ranks: latency * log2(W) + bytes * (W - 1) / W /
/// bandwidth. The bandwidth is that inside a node, and on several nodes the lower one of that and of the network. @param bytes of
/// the whole buffer
double collective_seconds(const Network& network, std::int64_t world_size, std::int64_t per_node, double bytes);

/// Whether tensors go in two stages: nodes with several ranks, and equally many each.
bool goes_in_stages(std::int64_t world_size, std::int64_t per_node);

/// The same in two stages, one after the other: among the L ranks of a node, bytes * (L - 1) / L / the bandwidth inside; then
/// between N nodes, bytes * (N - 1) / N / the network's bandwidth. In one stage, where there are no two, a node sends L times as
/// much.
double staged_seconds(const Network& network, std::int64_t world_size, std::int64_t per_node, double bytes);

/// Returns the seconds of a small message between all ranks through their hosts, which takes ceil(log2 W) rounds
/// (parallel/gather_rounds.h): each takes the network's latency, or 25 us where that is less, and 75 us in the hosts. The two
/// messages of a step then take 1.4 ms at 128 ranks, where scripts/benchmark/messages.sh gave 1.35 to 1.75 ms.
double message_seconds(const Network& network, std::int64_t world_size);

/// The part of an accelerator that communication occupies while it overlaps with computing: NCCL's kernels take 16 of an H100's
/// 132 multiprocessors. Assumed. Not counted on CPUs.
inline constexpr double occupied_by_communication = 16.0 / 132;

/// Returns the step as another program does it.
PlannedStep as_done_by(const OtherProgram& program, PlannedStep step);

/// Returns by what a pass of `tokens` tokens is slower per token than the passes with which the accelerator's rate was measured.
/// Small matmuls and kernel launches cost as much as `800 * 1024 / hidden_size` more tokens would: this program on an H100
/// reaches 0.73, 0.84, 0.91, 0.94 and 0.98 of its rate with 16, 32, 64, 96 and 192 sequences of 128 tokens (BERT-Large), and
/// DeepSpeed's published curve for a V100 (203 sequences/s with 16, 272 with 140) gives the same number. That it falls with the
/// hidden size is assumed. Larger passes are not faster.
double small_pass_factor(const Accelerator& accelerator, std::int64_t hidden_size, double tokens);

/// Returns by what an operation takes longer than in sequences of accelerator.rate_tokens tokens. An operation of attention
/// itself takes three times as long as another: this program on an H200 reached 2,110 sequences/s of 128 tokens and 449 of 512
/// (BERT-Large).
double length_factor(const PlannedStep& step, const Accelerator& accelerator);

/// Returns the accelerator with the rate that was measured with the model's architecture: that of the nearest hidden size, then
/// of the nearest length. Where only BERT was measured on the accelerator, `source` adds that, and what the architecture reached
/// on others.
Accelerator with_rate_of(Accelerator accelerator, const ModelConfig& model, double tokens_per_sequence);

/// The model: a micro-batch takes its operations / sustained FLOP/s, times the two factors above, a third of it forward. In the
/// last backward, each bucket is reduced when its last gradient is final, one bucket after the other. Weights are gathered in the
/// order in which the next forward needs them.
StepTime step_time(const PlannedStep& step, const Accelerator& accelerator, const Network& network);

}  // namespace bertpretrain
