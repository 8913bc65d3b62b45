#pragma once
// How long an optimizer step takes, before it is taken.

#include <cstdint>
#include <vector>

#include "model/bert_config.h"
#include "model/parameter_layout.h"
#include "operations/fabric.h"

namespace bertpretrain {

/// What is trained, on how many ranks, and how they share the work.
struct PlannedStep {
    BertConfig model;
    std::int64_t world_size = 1;
    double tokens_per_sequence = 128, masked_per_sequence = 20;
    std::int64_t micro_batch_size = 16;
    std::int64_t global_batch = 16;  ///< sequences of a step over all ranks
    std::int64_t zero_stage = 1;
    double gradient_bytes = 4;  ///< per parameter on the wire
    double weight_bytes = 2;    ///< likewise, coming back; of biases and LayerNorm 4
    double bucket_mib = 64;
    bool overlaps = true;           ///< false: communication begins when computing ends, as in programs without buckets
    double optimizer_traffic = 44;  ///< bytes that the update of one parameter moves through memory: LAMB in two passes

    /// Passes of a rank per step.
    std::int64_t accumulation() const;
    /// Floating point operations of one sequence, forward and backward.
    double flops_per_sequence() const;
    ParameterLayout layout() const;
};

/// Seconds of a step and of its parts; `total` is what passes.
struct StepTime {
    double computing = 0;       ///< all micro-batches
    double optimizer = 0;       ///< the update, and the exchanges that it waits for
    double communication = 0;   ///< gradients and weights on their way
    double exposed_reduce = 0;  ///< of that: what the backward does not hide
    double exposed_gather = 0;  ///< of that: what the next forward does not hide
    double exposed() const { return exposed_reduce + exposed_gather; }
    double total() const { return computing + optimizer + exposed(); }
};

/// Seconds of a reduce-scatter or an all-gather. @param bytes of the whole buffer
double collective_seconds(const Network& network, std::int64_t world_size, std::int64_t per_node, double bytes);

/// The model: a micro-batch takes its operations / sustained FLOP/s, a third of that forward. In the last backward every bucket
/// leaves when its last gradient is final, one after the other; weights come back in the order in which the next forward asks for
/// them.
StepTime step_time(const PlannedStep& step, const Accelerator& accelerator, const Network& network);

}  // namespace bertpretrain
