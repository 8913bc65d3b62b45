#pragma once
// The ranks of a run, and what they say to each other. One interface, whatever carries it.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "parallel/control_group.h"

namespace bertpretrain {

/// An operation under way. Until wait() has returned, its input must not change and its output must not be read.
/// Must be waited for before it is destroyed, by all ranks in the order in which the operations began.
class Pending {
public:
    virtual ~Pending() = default;
    /// On the CPU, returns when the output is there; on a GPU, work queued from now on sees the output.
    /// @throws DistributedError when a peer or the network failed
    virtual void wait() = 0;
};

/// What a rank has sent and how long that took, since the world began.
struct Traffic {
    double bytes_sent = 0;      ///< to other ranks, without the network's own overhead
    double busy_seconds = 0;    ///< in which tensors were on their way
    double waited_seconds = 0;  ///< in which the computing stood still for them: the exposed part

    Traffic operator-(const Traffic& before) const {
        return {bytes_sent - before.bytes_sent, busy_seconds - before.busy_seconds, waited_seconds - before.waited_seconds};
    }
};

/// All ranks call the same operations in the same order, with tensors of the same size, type and kind of device: one-dimensional,
/// contiguous, fp32 or bf16. Operations keep their tensors alive. They are finished in the order in which they began, and a
/// reduce-scatter writes only when all before it are done: its output may lie in its own or an earlier one's input. An all-gather
/// sends what the reduce-scatters before it wrote. Apart from that two may be under way at a time. One thread per rank calls
/// them. Tensors and messages do not wait for each other.
class World : public ControlGroup {
public:
    /// output = this rank's 1/size of the elementwise sum of all inputs, added in fp32 in the order of ranks.
    /// @param input size * output elements
    /// @param output fp32 or bf16, whichever the input is
    virtual std::unique_ptr<Pending> reduce_scatter(const at::Tensor& input, const at::Tensor& output) = 0;

    /// output = the inputs of all ranks, one after the other. @param output size * input elements
    virtual std::unique_ptr<Pending> all_gather(const at::Tensor& input, const at::Tensor& output) = 0;
    using ControlGroup::all_gather;

    /// Rank 0's tensor is put into every other rank's. Unless it is overridden, it goes as a message does, through the host.
    virtual std::unique_ptr<Pending> broadcast(const at::Tensor& tensor);

    /// Whether tensors go through a library of communication. False: operations are copies within this process at most.
    virtual bool communicates() const { return true; }

    virtual Traffic traffic() const { return {}; }

    /// The same ranks with connections of their own, for another thread of each; all ranks call it together.
    /// @param name of this connection, another one each time
    virtual std::unique_ptr<ControlGroup> connect_again(const std::string& name) = 0;
};

/// Already done.
class Done final : public Pending {
public:
    void wait() override {}
};

/// A world of one: an operation copies where output is not input, and otherwise does nothing.
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
