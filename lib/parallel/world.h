#pragma once
// The ranks of a run and their collectives: one interface for every transport.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/control_group.h"
#include "parallel/node_route.h"

namespace bertpretrain {

/// A collective in flight. Until wait() returns, its input must not change and its output must not be read. All ranks must call
/// wait() before they destroy it, in the order in which the operations began.
class Pending {
public:
    virtual ~Pending() = default;
    /// On the CPU, blocks until the output is written. On a GPU, makes work queued afterwards wait for the output.
    /// @throws DistributedError when a peer or the network failed
    virtual void wait() = 0;
};

/// A rank's communication since the world was made.
struct Traffic {
    double bytes_sent = 0;      ///< payload sent to other ranks, without protocol overhead
    double busy_seconds = 0;    ///< time with at least one tensor in flight
    double waited_seconds = 0;  ///< time in which computation waited for communication (the exposed part)

    Traffic operator-(const Traffic& before) const {
        return {bytes_sent - before.bytes_sent, busy_seconds - before.busy_seconds, waited_seconds - before.waited_seconds};
    }
};

/// All ranks call the same operations in the same order, each from one thread, with tensors of the same size, dtype and device
/// type: one-dimensional, contiguous, fp32 or bf16. Operations keep their tensors alive and finish in the order in which they
/// began. A reduce-scatter writes its output only after all earlier operations are done, so the output may overlap its own or an
/// earlier one's input. An all-gather sends what earlier reduce-scatters wrote. Otherwise two may be in flight at a time.
/// Tensors and messages (ControlGroup) do not wait for each other.
class World : public ControlGroup {
public:
    /// output = this rank's 1/size of the elementwise sum of all inputs, accumulated in fp32: the ranks of a node in rank order,
    /// then the sums of the nodes, which are rounded to the input's dtype in between (node_route.h; see NcclWorld for fp32 on
    /// GPUs).
    /// @param input size * output elements
    /// @param output fp32 or bf16, independently of the input's dtype
    virtual std::unique_ptr<Pending> reduce_scatter(const at::Tensor& input, const at::Tensor& output) = 0;

    /// output = the inputs of all ranks, concatenated in rank order. @param output size * input elements
    virtual std::unique_ptr<Pending> all_gather(const at::Tensor& input, const at::Tensor& output) = 0;
    using ControlGroup::all_gather;

    /// tensor = the elementwise sum of all ranks' tensors, by the communication library's own all-reduce, in its order of
    /// summation. Training does not use it: a step's sums have one order (reduce_scatter). The default implementation is a
    /// reduce-scatter and an all-gather, for worlds without a library. @param tensor fp32, of a multiple of size() elements
    virtual std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor);

    /// Copies rank 0's tensor into every other rank's. The default implementation sends it as a message, through the host.
    virtual std::unique_ptr<Pending> broadcast(const at::Tensor& tensor);

    /// Whether tensors go through a communication library. False: operations at most copy within this process.
    virtual bool communicates() const { return true; }

    virtual Traffic traffic() const { return {}; }

    /// Returns the way that tensors take between nodes. The default: all ranks are one node.
    virtual NodeRoute route() const { return {std::vector<std::string>(static_cast<std::size_t>(size())), rank()}; }

    /// Returns a control group of the same ranks with connections of its own, for another thread. All ranks call it together.
    /// @param name identifies these connections among those that are made at the same time
    virtual std::unique_ptr<ControlGroup> connect_again(const std::string& name) = 0;
};

/// An operation that is already complete.
class Done final : public Pending {
public:
    void wait() override {}
};

/// A world of one rank: an operation copies its input to its output, or does nothing where both are the same memory.
class SingleProcess final : public World {
public:
    std::int64_t rank() const override { return 0; }
    std::int64_t size() const override { return 1; }
    bool communicates() const override { return false; }
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& input, const at::Tensor& output) override;
    std::unique_ptr<Pending> all_gather(const at::Tensor& input, const at::Tensor& output) override;
    using World::all_gather;
    std::vector<std::string> all_gather(std::string_view own) override { return {std::string(own)}; }
    std::vector<std::string> gather_at_first(std::string_view own) override { return {std::string(own)}; }
    void broadcast_from_first(std::span<std::byte>) override {}
    std::unique_ptr<ControlGroup> connect_again(const std::string&) override { return std::make_unique<SingleProcess>(); }
};

}  // namespace bertpretrain
