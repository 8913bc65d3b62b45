// Implements nccl_module.h; the only file that includes c10d's NCCL. Built where libtorch supports CUDA. The code that it shares
// with the program (messages, errors, World) is resolved from the program that loads it.
#include <deque>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "core/error.h"
#include "core/strings.h"
#include "kernels/fused_operations.h"
#include "parallel/gloo_messages.h"
#include "parallel/nccl_module.h"
#include "parallel/node_route.h"
#include "parallel/stream_spans.h"

namespace bertpretrain {
namespace {

using Work = c10::intrusive_ptr<c10d::Work>;

/// Its environment is nccl_environment.h's. Operations run on a side stream, which waits for the compute stream where an
/// operation begins. The compute stream waits where wait() is called; the host never waits. fp32 is summed by NCCL, in an order
/// that depends on the machine's topology; bf16 is exchanged in the two stages of a NodeRoute and accumulated in fp32 in rank
/// order. One all-to-all among all ranks would send as many bytes out of a node as it has ranks times what a ring sends.
class NcclWorld final : public World {
public:
    NcclWorld(const MeetingPlace& place, const NcclRank& rank)
        : rank_(rank.rank),
          size_(rank.size),
          device_(at::kCUDA, static_cast<c10::DeviceIndex>(rank.device)),
          streams_(at::kCUDA),
          side_(streams_.getStreamFromGlobalPool(device_, true)),
          messages_(place, "messages", rank.rank, rank.size, rank.address, rank.timeout),
          route_(messages_.all_gather_texts(node_name()), rank.rank) {
        auto options = c10d::ProcessGroupNCCL::Options::create(true);
        options->timeout = rank.timeout;
        auto store = c10::intrusive_ptr<c10d::Store>::reclaim_copy(place.store().get());
        group_ = c10::make_intrusive<c10d::ProcessGroupNCCL>(c10::make_intrusive<c10d::PrefixStore>("nccl", store),
                                                             static_cast<int>(rank_), static_cast<int>(size_), options);
    }

    std::int64_t rank() const override { return rank_; }
    std::int64_t size() const override { return size_; }

    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& input, const at::Tensor& output) override {
        check(input.numel() == output.numel() * size_, "reduce-scatter of ", input.numel(), " elements into ", output.numel());
        sent_ += static_cast<double>(input.nbytes()) * static_cast<double>(size_ - 1) / static_cast<double>(size_);
        return run("reduce-scatter", {input, output}, [&] {
            if (input.scalar_type() == at::kFloat) {
                // Reduces into a temporary: the output may overlap the input, which other ranks still read.
                at::Tensor sum = room(output.nbytes()).view(at::kFloat);
                at::Tensor from = input;
                finish(group_->_reduce_scatter_base(sum, from));
                output.copy_(sum);
            } else {
                reduce_in_stages(input, output);
            }
        });
    }

    std::unique_ptr<Pending> all_gather(const at::Tensor& input, const at::Tensor& output) override {
        check(output.numel() == input.numel() * size_, "all-gather of ", input.numel(), " elements into ", output.numel());
        sent_ += static_cast<double>(input.nbytes()) * static_cast<double>(size_ - 1);
        return run("all-gather", {input, output}, [&] {
            at::Tensor to = output, from = input;
            finish(group_->_allgather_base(to, from));
        });
    }

    std::unique_ptr<Pending> all_reduce(const at::Tensor& tensor) override {
        sent_ += 2 * static_cast<double>(tensor.nbytes()) * static_cast<double>(size_ - 1) / static_cast<double>(size_);
        return run("all-reduce", {tensor}, [&] {
            std::vector<at::Tensor> one{tensor};
            finish(group_->allreduce(one));
        });
    }

    std::unique_ptr<Pending> broadcast(const at::Tensor& tensor) override {
        if (rank_ == 0) sent_ += static_cast<double>(tensor.nbytes());
        return run("broadcast", {tensor}, [&] {
            std::vector<at::Tensor> one{tensor};
            finish(group_->broadcast(one));
        });
    }

    using World::all_gather;
    std::vector<std::string> all_gather(std::string_view own) override {
        refuse_failed();
        return messages_.all_gather(own);
    }
    std::vector<std::string> gather_at_first(std::string_view own) override { return messages_.gather_at_first(own); }
    void broadcast_from_first(std::span<std::byte> bytes) override { messages_.broadcast_from_first(bytes); }
    std::unique_ptr<ControlGroup> connect_again(const std::string& name) override { return messages_.connect_again(name); }

    void set_timeout(std::chrono::milliseconds timeout) override {
        messages_.set_timeout(timeout);
        group_->setTimeout(timeout);
    }

    NodeRoute route() const override { return route_; }

    /// Counts the tensor operations that the GPU has completed; a step waits for the GPU before it calls this.
    Traffic traffic() const override {
        Traffic traffic = messages_.traffic();
        traffic.bytes_sent += sent_;
        traffic.busy_seconds += on_its_way_.seconds();
        traffic.waited_seconds += waited_.seconds();
        return traffic;
    }

private:
    /// wait() makes later work on the compute stream wait for the operation.
    class Arrival final : public Pending {
    public:
        Arrival(NcclWorld& world, std::shared_ptr<const StreamSpans::Span> operation)
            : world_(world), operation_(std::move(operation)) {}
        void wait() override {
            world_.refuse_failed();
            const c10::Stream computing = world_.streams_.getStream(world_.device_);
            world_.waited_.measure("waits for NCCL", computing, [&] { operation_->end.block(computing); });
        }

    private:
        NcclWorld& world_;
        std::shared_ptr<const StreamSpans::Span> operation_;
    };

    template <class Operation>
    std::unique_ptr<Pending> run(const char* what, const std::vector<at::Tensor>& tensors, const Operation& operation) {
        refuse_failed();
        c10::Event ready(at::kCUDA);
        ready.record(streams_.getStream(device_));
        ready.block(side_);
        std::shared_ptr<const StreamSpans::Span> span;
        try {
            const c10::StreamGuard on_side(side_);
            for (const at::Tensor& tensor : tensors) tensor.record_stream(side_);  // it may be freed while in flight
            span = on_its_way_.measure(what, side_, operation);
        } catch (const std::exception& error) { fail(what, error.what()); }
        return std::make_unique<Arrival>(*this, std::move(span));
    }

    /// Makes the side stream wait for NCCL's stream.
    void finish(Work work) {
        work->wait();
        under_way_.push_back(std::move(work));
    }

    at::Tensor room(std::size_t bytes) {
        const auto wanted = static_cast<std::int64_t>(bytes);
        if (!room_.defined() || room_.numel() < wanted) room_ = at::empty({wanted}, at::TensorOptions(device_).dtype(at::kByte));
        return room_.narrow(0, 0, wanted);
    }

    /// Sends `rows` rows of the input to each peer, and receives as many from it; both in the order of the peers, ascending.
    void all_to_all(at::Tensor input_RS, at::Tensor output_RS, const std::vector<std::int64_t>& peers, std::int64_t rows) {
        std::vector<std::int64_t> rows_of_rank(static_cast<std::size_t>(size_), 0);
        for (const std::int64_t peer : peers) rows_of_rank[static_cast<std::size_t>(peer)] = rows;
        finish(group_->alltoall_base(output_RS, input_RS, rows_of_rank, rows_of_rank));
    }

    /// As GlooReduction.
    void reduce_in_stages(const at::Tensor& input, const at::Tensor& output) {
        const std::int64_t L = route_.ranks_per_node(), N = route_.nodes(), S = output.numel();
        const at::Tensor input_RS = input.view({size_, S});
        if (N == 1) {
            const at::Tensor parts_RS = room(input.nbytes()).view(input.scalar_type()).view({size_, S});
            all_to_all(input_RS, parts_RS, route_.node, 1);
            return add_parts(parts_RS, output);
        }
        const at::Tensor rows = room(2 * input.nbytes()).view(input.scalar_type()).view({2 * size_, S});
        const at::Tensor by_rail_RS = rows.narrow(0, 0, size_), parts_LNS = rows.narrow(0, size_, size_),
                         sums_NS = rows.narrow(0, 0, N), of_rail_NS = rows.narrow(0, N, N);  // over what has been sent
        at::Tensor to_peers_RS = by_rail_RS;
        at::index_select_out(to_peers_RS, input_RS, 0, by_rail());
        all_to_all(by_rail_RS, parts_LNS, route_.node, N);
        add_parts(parts_LNS.view({L, N * S}), sums_NS.view({N * S}));
        all_to_all(sums_NS, of_rail_NS, route_.rail(), 1);
        add_parts(of_rail_NS, output);
    }

    /// Returns the ranks in the order of their rails, on the GPU.
    const at::Tensor& by_rail() {
        if (!by_rail_.defined()) by_rail_ = at::tensor(route_.by_rail()).to(device_);
        return by_rail_;
    }

    [[noreturn]] void fail(const char* what, const std::string& reason) const {
        throw DistributedError(
            concat("rank ", rank_, " of ", size_, " lost a peer or the network in ", what, ": ", first_line(reason)));
    }

    /// @throws DistributedError when NCCL's watchdog has found that an earlier operation failed
    void refuse_failed() {
        while (!under_way_.empty() && under_way_.front()->isCompleted()) {
            const std::exception_ptr error = under_way_.front()->exception();
            under_way_.pop_front();
            if (!error) continue;
            try {
                std::rethrow_exception(error);
            } catch (const std::exception& reason) { fail("an NCCL operation", reason.what()); }
        }
    }

    std::int64_t rank_, size_;
    c10::Device device_;
    c10::impl::VirtualGuardImpl streams_;
    c10::Stream side_;
    GlooMessages messages_;
    NodeRoute route_;
    at::Tensor by_rail_;  ///< empty until it is needed
    c10::intrusive_ptr<c10d::ProcessGroupNCCL> group_;
    std::deque<Work> under_way_;
    at::Tensor room_;  ///< buffer of the operation in flight; the side stream runs them one at a time
    double sent_ = 0;
    mutable StreamSpans on_its_way_{at::kCUDA, "NCCL"};
    mutable StreamSpans waited_{at::kCUDA, "GPU's computing"};  ///< exposed time: the compute stream waited
};

}  // namespace
}  // namespace bertpretrain

extern "C" bertpretrain::World* bertpretrain_make_nccl_world(const bertpretrain::MeetingPlace& place,
                                                             const bertpretrain::NcclRank& rank) {
    using namespace bertpretrain;
    try {
        return new NcclWorld(place, rank);
    } catch (const Error&) { throw; } catch (const std::exception& error) {
        throw DistributedError(
            concat("rank ", rank.rank, " of ", rank.size, " cannot create the NCCL process group: ", first_line(error.what())));
    }
}
