#pragma once
// Reduce-scatter and all-gather over Gloo, in the two stages of a NodeRoute.

#include <functional>
#include <memory>

#include <ATen/core/Tensor.h>

#include "parallel/gloo_tensors.h"
#include "parallel/node_route.h"

namespace bertpretrain {

/// A reduce-scatter on its way. The ranks of a node exchange the parts of their input and add them in the order of their ranks,
/// in fp32; the sums, in the input's dtype, travel along the rails and are added likewise. With one node there is one such sum.
/// One thread calls begin(), the function that it returns, and finish(), in this order.
class GlooReduction {
public:
    GlooReduction(std::shared_ptr<GlooTensors> tensors, std::shared_ptr<const NodeRoute> route, const at::Tensor& input);

    /// Returns the bytes of memory that it needs.
    std::int64_t room_bytes() const;
    /// Starts to send. @param room of room_bytes(), for this operation alone until finish()
    /// @returns blocks until everything has arrived and the input may change
    std::function<void()> begin(const at::Tensor& room);
    /// Writes the sum of the ranks' inputs for this rank's part. @param output fp32 or bf16
    void finish(const at::Tensor& output) const;

private:
    void exchange_sums();

    std::shared_ptr<GlooTensors> tensors_;
    std::shared_ptr<const NodeRoute> route_;
    at::Tensor input_;
    int tag_of_node_, tag_of_rail_;
    at::Tensor parts_LNS_;   ///< of the node's ranks, for the ranks of this rank's rail
    at::Tensor sums_NS_;     ///< of the node, for the ranks of this rank's rail
    at::Tensor of_rail_NS_;  ///< the sums of all nodes for this rank
};

/// Begins to send: along the rail, then to the ranks of the node. @param tag_of_node, tag_of_rail taken for this operation alone
/// @param output the inputs of all ranks in rank order; the input may be this rank's part of it
/// @returns blocks until everything has arrived
std::function<void()> gather_over(const std::shared_ptr<GlooTensors>& tensors, const std::shared_ptr<const NodeRoute>& route,
                                  int tag_of_node, int tag_of_rail, const at::Tensor& input, const at::Tensor& output);

}  // namespace bertpretrain
