#pragma once
// The traffic of one step: gradients leave bucket by bucket while the backward goes on, new weights come back.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "model/parameter_layout.h"
#include "parallel/world.h"

namespace bertpretrain {

/// Joins flat buffers that hold everything with slices that hold this rank's part. A step is
///     ready(bucket)...                     as the backward finishes them
///     gradient_slice = finish()            sums over all ranks
///     (the optimizer writes working_slice())
///     start_gather(); wait_gathered(bucket)...   or gather()
/// In a world of one the slices are the flat buffers and nothing is copied.
class GradientBuckets {
public:
    /// The layout and the world must outlive this.
    /// @param layout cut for world.size() shards
    /// @param flat_gradients fp32, layout.flat_elements(); the loss is scaled so that the sum over ranks is the gradient
    /// @param flat_working bf16 or fp32, layout.flat_elements(): what the model computes with
    GradientBuckets(const ParameterLayout& layout, World& world, at::Tensor flat_gradients, at::Tensor flat_working);

    /// The gradients of a bucket are final: begins to sum them over the ranks. All ranks call it in the same order.
    void ready(std::size_t bucket);

    /// Waits for all buckets. @returns this rank's slice of the sums; valid until the next ready()
    /// @throws std::logic_error when a bucket was not ready
    const at::Tensor& finish();

    /// Where this rank's new weights go.
    at::Tensor& working_slice() { return working_slice_; }

    /// Begins to send the working slices to all, first the bucket that the forward needs first (the backward's last).
    void start_gather();
    /// The weights of a bucket in flat_working are new. Called in the order in which start_gather sends.
    void wait_gathered(std::size_t bucket);
    /// start_gather(), and waits for all buckets.
    void gather();

    /// ZeRO stage 0, after finish(): the sums of all slices into flat_gradients on every rank.
    void gather_gradients();

private:
    /// The part of a slice buffer that belongs to a bucket.
    at::Tensor slice_part(const at::Tensor& slice, std::size_t bucket) const;
    at::Tensor flat_part(const at::Tensor& flat, std::size_t bucket) const;

    const ParameterLayout& layout_;
    World& world_;
    at::Tensor flat_gradients_, flat_working_;
    at::Tensor gradient_slice_, working_slice_;
    std::vector<std::size_t> reducing_order_;          ///< buckets, in the order of ready()
    std::vector<std::unique_ptr<Pending>> reducing_;   ///< by bucket
    std::vector<std::unique_ptr<Pending>> gathering_;  ///< by bucket
};

}  // namespace bertpretrain
