#pragma once
// What a rank's parameters take in memory, before any of it is asked for.

#include <cstdint>
#include <string>
#include <vector>

#include "model/parameter_layout.h"
#include "plan/run_plan.h"

namespace bertpretrain {

/// Bytes of one rank.
struct MemoryPlan {
    std::uint64_t weights = 0;    ///< as the model computes with them: bf16 or fp32
    std::uint64_t gradients = 0;  ///< fp32, or bf16 for most
    std::uint64_t optimizer = 0;  ///< fp32 master weights and two moments: at ZeRO stage 1 this rank's slice of them
    std::uint64_t transfer = 0;   ///< of two buckets under way: the parts from other ranks, and the copy in the type on the wire

    std::uint64_t attention = 0;    ///< on CPUs: in which this rank's threads compute attention, quadratic in the sequence length
    std::uint64_t snapshot = 0;     ///< copy of this rank's slice that is written while training goes on; 0 without
    std::uint64_t activations = 0;  ///< of one pass of full-length sequences
    std::uint64_t data = 0;         ///< rows of two windows of each source's samples
    std::uint64_t program = 0;      ///< code and threads; measured, on a CPU

    /// What lasts from step to step.
    std::uint64_t total() const { return weights + gradients + optimizer + transfer + attention + snapshot; }
    std::uint64_t peak() const { return total() + activations + data + program; }
    /// Of the peak, what lies in the host's memory when the model is on a GPU; the rest is the GPU's.
    std::uint64_t beside_gpu() const { return snapshot + data + program; }
    /// Of the peak, what lies in the GPU's memory when the model is on one. What the driver and libraries take is not counted.
    std::uint64_t on_gpu() const { return peak() - beside_gpu(); }
    /// "weights 638.5 MiB, gradients 1.2 GiB, ..."
    std::string text() const;
};

/// @param threads  that compute a rank's operations (kernels/cpu/operation_threads.h); not used for a GPU
/// @param rows of the training shards; 0: many
MemoryPlan plan_memory(const RunPlan& plan, const ParameterLayout& layout, std::int64_t threads, std::int64_t rows = 0);

/// Multiples of a micro-batch that cut a rank's sequences of a step into equally many micro-batches each, ascending.
std::vector<std::int64_t> pass_sizes(std::int64_t micro_batch_size, std::int64_t sequences_of_rank);

/// Returns the sequences of the pass that a run on an accelerator would choose: the largest of pass_sizes() with which a rank's
/// tensors take at most `most_bytes` there and which has at most `most_tokens` tokens, or the first. Where the plan leaves
/// nothing to measure, the plan's own.
std::int64_t planned_pass(const RunPlan& plan, const ParameterLayout& layout, double most_bytes, double most_tokens);

/// @param sequence_length  data.sequence_length, for the message
/// @param ranks_here that share this machine's memory
/// @throws ConfigError when this machine has less than the ranks' total(); the system would otherwise end the process without a
/// word
void refuse_too_large(const MemoryPlan& memory, std::int64_t parameters, std::int64_t sequence_length, std::int64_t ranks_here);

}  // namespace bertpretrain
