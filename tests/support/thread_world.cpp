#include "support/thread_world.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/stack.h>

#include "core/error.h"
#include "kernels/fused_operations.h"

namespace bertpretrain::testing {

/// Operations run in wait(). Until then the output holds NaN, which exposes a caller that reads it too early.
class ThreadWorld final : public World {
public:
    ThreadWorld(ThreadGroup& group, std::int64_t rank) : group_(group), rank_(rank) {}

    std::int64_t rank() const override { return rank_; }
    std::int64_t size() const override { return group_.ranks_; }

    std::unique_ptr<Pending> reduce_scatter(const at::Tensor& input, const at::Tensor& output) override {
        check(input.numel() == output.numel() * size(), "reduce-scatter of ", input.numel(), " elements into ", output.numel());
        const auto sum_own_part = [this, output](const std::vector<ThreadGroup::Contribution>& all) {
            std::vector<at::Tensor> parts;
            for (const ThreadGroup::Contribution& one : all)
                parts.push_back(one.tensor.narrow(0, rank_ * output.numel(), output.numel()));
            const at::Tensor sum = at::empty_like(output);
            add_parts(at::stack(parts), sum);
            return sum;
        };
        return start(concat("reduce-scatter of ", input.numel(), " ", input.scalar_type()), input, output, sum_own_part);
    }

    std::unique_ptr<Pending> all_gather(const at::Tensor& input, const at::Tensor& output) override {
        check(output.numel() == input.numel() * size(), "all-gather of ", input.numel(), " elements into ", output.numel());
        const auto join_all = [](const std::vector<ThreadGroup::Contribution>& all) {
            std::vector<at::Tensor> parts;
            for (const ThreadGroup::Contribution& one : all) parts.push_back(one.tensor);
            return at::cat(parts);
        };
        return start(concat("all-gather of ", input.numel(), " ", input.scalar_type()), input, output, join_all);
    }

    using World::all_gather;
    std::vector<std::string> all_gather(std::string_view own) override {
        std::vector<std::string> gathered;
        group_.meet(rank_, {concat("all-gather of ", own.size(), " bytes"), {}, std::string(own)},
                    [&](const std::vector<ThreadGroup::Contribution>& all) {
                        for (const ThreadGroup::Contribution& one : all) gathered.push_back(one.message);
                    });
        return gathered;
    }

    std::vector<std::string> gather_at_first(std::string_view own) override {
        std::vector<std::string> gathered = all_gather(own);
        if (rank_ != 0) gathered.clear();
        return gathered;
    }

    void broadcast_from_first(std::span<std::byte> bytes) override {
        const std::string_view own(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        const std::string first = all_gather(own).front();
        if (rank_ != 0) std::copy(first.begin(), first.end(), reinterpret_cast<char*>(bytes.data()));
    }

    std::unique_ptr<ControlGroup> connect_again(const std::string& name) override { return group_.again(name).world(rank_); }

private:
    /// Computes the output's new value; no rank writes until all have computed theirs.
    using Use = std::function<at::Tensor(const std::vector<ThreadGroup::Contribution>&)>;

    class Meeting final : public Pending {
    public:
        explicit Meeting(std::function<void()> meet) : meet_(std::move(meet)) {}
        void wait() override {
            if (meet_) std::exchange(meet_, nullptr)();
        }

    private:
        std::function<void()> meet_;
    };

    std::unique_ptr<Pending> start(const std::string& operation, const at::Tensor& input, const at::Tensor& output, Use use) {
        if (size() > 1 && !input.is_alias_of(output)) output.fill_(std::numeric_limits<double>::quiet_NaN());
        return std::make_unique<Meeting>([this, operation, input, output, use = std::move(use)] {
            at::Tensor result;
            group_.meet(rank_, {operation, input, {}}, [&](const auto& all) { result = use(all); });
            output.copy_(result);
        });
    }

    ThreadGroup& group_;
    std::int64_t rank_;
};

ThreadGroup::ThreadGroup(std::int64_t ranks, std::chrono::milliseconds timeout)
    : ranks_(ranks), timeout_(timeout), contributions_(static_cast<std::size_t>(ranks)) {
    check(ranks >= 1, "a group needs at least one rank, found ", ranks);
}

std::unique_ptr<World> ThreadGroup::world(std::int64_t rank) {
    check(0 <= rank && rank < ranks_, "no rank ", rank, " in a group of ", ranks_);
    return std::make_unique<ThreadWorld>(*this, rank);
}

void ThreadGroup::abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    all_here_.notify_all();
    for (const auto& [name, group] : again_) group->abandon();
}

ThreadGroup& ThreadGroup::again(const std::string& name) {
    const std::lock_guard lock(mutex_);
    std::unique_ptr<ThreadGroup>& group = again_[name];
    if (!group) group = std::make_unique<ThreadGroup>(ranks_, timeout_);
    return *group;
}

void ThreadGroup::meet(std::int64_t rank, Contribution own, const std::function<void(const std::vector<Contribution>&)>& use) {
    contributions_[static_cast<std::size_t>(rank)] = std::move(own);
    arrive();
    for (const Contribution& other : contributions_)
        check(other.operation == contributions_.front().operation, "ranks call different operations: ", other.operation, " and ",
              contributions_.front().operation);
    use(contributions_);
    arrive();
}

void ThreadGroup::arrive() {
    std::unique_lock lock(mutex_);
    if (!abandoned_ && ++arrived_ == ranks_) {
        arrived_ = 0;
        ++meetings_;
        all_here_.notify_all();
        return;
    }
    const std::uint64_t meeting = meetings_;
    const bool met = all_here_.wait_for(lock, timeout_, [&] { return abandoned_ || meetings_ != meeting; });
    if (met && meetings_ != meeting) return;
    const bool gave_up = !std::exchange(abandoned_, true);
    all_here_.notify_all();
    throw DistributedError(gave_up ? concat("a rank did not arrive within ", timeout_.count(), " ms")
                                   : "another rank has failed");
}

}  // namespace bertpretrain::testing
