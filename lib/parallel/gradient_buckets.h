#pragma once
// The communication of one step: gradients are reduced bucket by bucket during backward, and new weights are gathered while the
// next forward begins.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "model/flat_parameters.h"
#include "optimizer/block_sums.h"
#include "parallel/world.h"

namespace bertpretrain {

/// Connects the flat buffers to the part of them that this rank's optimizer updates. A step is
///     ready(bucket)...                     as backward finishes each bucket
///     gradient = finish()                  sums over all ranks
///     (the optimizer writes its part of the flat compute-dtype weights)
///     start_gather(master); wait_gathered(bucket)... or wait_all()
/// ZeRO stage 1: the part is a slice of every bucket. Sends and receives use the flat buffers in place, without extra memory.
/// Stage 0: the part is everything; the sums are the same, and each is also gathered on every rank.
/// In a world that does not communicate, nothing is copied. Gradients stored in bf16 are sent as bf16.
class GradientBuckets {
public:
    struct Choices {
        std::int64_t zero_stage = 1;
        at::ScalarType wire = at::kFloat;  ///< dtype in which gradients are sent: fp32, or bf16 accumulated in fp32
    };

    /// The parameters and the world must outlive this object. @param parameters whose layout has world.size() shards
    /// @throws std::logic_error when shards, ZeRO stage or bf16 gradient storage do not fit the world
    GradientBuckets(const FlatParameters& parameters, World& world, const Choices& choices);

    /// Starts to sum a bucket's gradients over the ranks; they must be final. All ranks call it for the first bucket to the last,
    /// in order. The loss must be scaled so that the sum over ranks is the gradient.
    void ready(std::size_t bucket);

    /// Waits for all buckets. @returns the fp32 gradient of the optimizer's part of the parameters; valid until gradients are
    /// written again
    /// @throws std::logic_error when ready() was not called for every bucket
    at::Tensor finish();

    /// Starts to send this rank's new weights to all ranks, in the order in which forward needs them (last bucket first).
    /// @param master the optimizer's fp32 weights. Biases and LayerNorm are sent from it; the rest from the compute-dtype
    /// weights.
    void start_gather(const at::Tensor& master);
    /// Blocks until the weights of buckets `bucket`..last have been gathered.
    void wait_gathered(std::size_t bucket);
    void wait_all() { wait_gathered(0); }

    /// Returns the bytes that each rank sends per step, by the formula for ring collectives.
    double bytes_per_step() const;

private:
    /// Whether gradients and weights are already where they are needed.
    bool alone() const { return !world_.communicates(); }
    at::ScalarType wire_of(std::size_t bucket) const;
    bool is_fp32(std::size_t bucket) const;
    at::Tensor whole(const at::Tensor& flat, std::size_t bucket) const;
    at::Tensor own(const at::Tensor& flat, std::size_t bucket) const;
    /// Returns a bucket's part of a buffer that holds only one rank's slices.
    at::Tensor in_slice(const at::Tensor& slice, std::size_t bucket) const;

    const FlatParameters& parameters_;
    const ParameterLayout& layout_;
    World& world_;
    Choices choices_;
    std::size_t ready_ = 0;                            ///< number of buckets passed to ready() in this step
    std::vector<std::unique_ptr<Pending>> reducing_;   ///< in the order in which they began
    std::vector<std::unique_ptr<Pending>> gathering_;  ///< by bucket; null: no gather in flight
};

/// Exchanges block sums between optimizer shards, one per rank. The world must outlive this object.
class WorldExchange final : public BlockSumExchange {
public:
    explicit WorldExchange(World& world) : world_(world) {}
    std::vector<double> all_gather(std::span<const double> own) override { return world_.all_gather(own); }

private:
    World& world_;
};

}  // namespace bertpretrain
