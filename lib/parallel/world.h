#pragma once
// The ranks of a run, and what they say to each other. One interface, whatever carries it.

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

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
class World {
public:
    virtual ~World() = default;
    virtual std::int64_t rank() const = 0;  ///< 0 <= rank < size
    virtual std::int64_t size() const = 0;

    /// output = this rank's 1/size of the elementwise sum of all inputs, added in fp32 in the order of ranks.
    /// @param input size * output elements
    /// @param output fp32 or bf16, whichever the input is
    virtual std::unique_ptr<Pending> reduce_scatter(const at::Tensor& input, const at::Tensor& output) = 0;

    /// output = the inputs of all ranks, one after the other. @param output size * input elements
    virtual std::unique_ptr<Pending> all_gather(const at::Tensor& input, const at::Tensor& output) = 0;

    /// The messages of all ranks, rank 0 first; all are of one length. Waits for all.
    virtual std::vector<std::string> all_gather(std::string_view own) = 0;

    /// From now on a rank that is waited for longer than this is taken for lost.
    virtual void set_patience(std::chrono::milliseconds) {}

    virtual Traffic traffic() const { return {}; }

    /// Returns when all ranks have called it.
    void barrier() { all_gather(std::string_view()); }

    /// The numbers of all ranks, rank 0 first; each gives equally many.
    std::vector<double> all_gather(std::span<const double> own);

    /// As all_gather, for messages of any lengths.
    std::vector<std::string> all_gather_texts(std::string_view own);

    /// The largest of what the ranks say, the same on all: the way to agree to stop, to save, to fail. |value| < 2^53.
    std::int64_t agree_on_largest(std::int64_t value);
    /// The sum of what the ranks say, the same on all; below 2^53.
    std::int64_t sum(std::int64_t value);
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
    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& input, const at::Tensor& output) override;
    std::unique_ptr<Pending> all_gather(const at::Tensor& input, const at::Tensor& output) override;
    using World::all_gather;
    std::vector<std::string> all_gather(std::string_view own) override { return {std::string(own)}; }
};

}  // namespace bertpretrain
