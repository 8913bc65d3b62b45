#pragma once
// The traffic of one step: gradients leave bucket by bucket while the backward goes on, new weights come back while the next
// forward begins.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "model/flat_parameters.h"
#include "parallel/world.h"

namespace bertpretrain {

/// Joins the flat buffers with the part of them that this rank's optimizer works on. A step is
///     ready(bucket)...                     as the backward finishes them
///     gradient = finish()                  sums over all ranks
///     (the optimizer writes its part of the flat working buffer)
///     start_gather(master); wait_gathered(bucket)... or wait_all()
/// ZeRO stage 1: the part is a slice of every bucket, and what leaves and comes back lies in the flat buffers themselves: no
/// other memory is held. Stage 0: the part is everything; the same sums, with the rest of them sent to every rank.
/// In a world that does not communicate nothing is copied. Gradients kept in bf16 travel as such.
class GradientBuckets {
public:
    struct Choices {
        std::int64_t zero_stage = 1;
        at::ScalarType wire = at::kFloat;  ///< of gradients on their way: fp32, or bf16 that is added up in fp32
    };

    /// The parameters and the world must outlive this. @param parameters their layout is cut for world.size() shards
    GradientBuckets(const FlatParameters& parameters, World& world, const Choices& choices);

    /// The gradients of a bucket are final: begins to sum them over the ranks. All ranks call it in the same order, from the
    /// first bucket to the last. The loss is scaled so that the sum over ranks is the gradient.
    void ready(std::size_t bucket);

    /// Waits for all buckets. @returns fp32, what the optimizer's part of the parameters has as gradient; valid until gradients
    /// are written again
    /// @throws std::logic_error when a bucket was not ready
    at::Tensor finish();

    /// Begins to send this rank's new weights to all, first those that the forward needs first (the backward's last).
    /// @param master fp32, the optimizer's weights: biases and LayerNorm are sent as they are there, the rest from flat working
    void start_gather(const at::Tensor& master);
    /// The weights of a bucket, and of all behind it, are new.
    void wait_gathered(std::size_t bucket);
    void wait_all() { wait_gathered(0); }

    /// Bytes that a step sends from each rank, by the formula of a ring.
    double bytes_per_step() const;

private:
    /// Nothing has to travel: gradients and weights are where they are needed.
    bool alone() const { return !world_.communicates(); }
    at::ScalarType wire_of(std::size_t bucket) const;
    bool is_fp32(std::size_t bucket) const;
    at::Tensor whole(const at::Tensor& flat, std::size_t bucket) const;
    at::Tensor own(const at::Tensor& flat, std::size_t bucket) const;
    /// Where a bucket's part lies in a buffer that holds one rank's slices only.
    at::Tensor in_slice(const at::Tensor& slice, std::size_t bucket) const;

    const FlatParameters& parameters_;
    const ParameterLayout& layout_;
    World& world_;
    Choices choices_;
    std::size_t ready_ = 0;                            ///< buckets so far
    std::vector<std::unique_ptr<Pending>> reducing_;   ///< in the order in which they began
    std::vector<std::unique_ptr<Pending>> gathering_;  ///< by bucket; null: nothing is under way
};

}  // namespace bertpretrain
