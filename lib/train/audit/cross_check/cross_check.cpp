#include "train/audit/cross_check/cross_check.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>

#include "core/host_name.h"
#include "core/strings.h"
#include "kernels/kernels_in_use.h"
#include "train/audit/cross_check/gradient_digest.h"
#include "train/audit/cross_check/kernel_comparison.h"
#include "train/audit/run_sessions.h"

namespace bertpretrain {
namespace {

std::string_view bytes_of(std::span<const std::uint64_t> numbers) {
    return {reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()};
}

/// Gathers numbers of all ranks, which pass equally many. @returns them by rank
std::vector<std::vector<std::uint64_t>> gather(ControlGroup& ranks, std::span<const std::uint64_t> own) {
    std::vector<std::vector<std::uint64_t>> all;
    for (const std::string& bytes : ranks.all_gather(bytes_of(own))) {
        std::vector<std::uint64_t>& numbers = all.emplace_back(own.size());
        std::memcpy(numbers.data(), bytes.data(), bytes.size());
    }
    return all;
}

/// "rank 3 on node7"
std::string text_of(const SuspectRank& suspect) { return concat("rank ", suspect.rank, " on ", suspect.host); }

std::string text_of(const std::vector<SuspectRank>& suspects) {
    std::vector<std::string> texts;
    for (const SuspectRank& suspect : suspects) texts.push_back(text_of(suspect));
    return join(texts, " and ");
}

constexpr const char* what_to_do =
    "\n  the update of this step was not applied"
    "\n  do: leave the host out and test its hardware; the same command resumes from the last state that a check confirmed";

}  // namespace

void refuse_unequal_bits(ControlGroup& ranks, const RunPlan& plan, at::Device device) {
    if (plan.settings.training.cross_check_every_steps == 0) return;
    constexpr const char* setting = "training.cross_check_every_steps: ";
    const std::int64_t head_size = shape_of(plan.settings.model).head_size();
    CountsDropout* const counts_dropout = kernels_for(device).counts_dropout;
    if (counts_dropout != nullptr && !counts_dropout(plan.settings.data.sequence_length, head_size, plan.compute.dtype))
        throw ConfigError(
            concat(setting, "needs computations that can be repeated bit by bit, and with heads of ", head_size, " features and ",
                   plan.settings.data.sequence_length,
                   " tokens this run uses flash attention, which draws its own dropout masks and adds in a varying ",
                   "order\n  do: set it to 0 for this run"));
    const std::string own = device.is_cpu() ? computed_by(device) : kernels_on(device);
    const std::vector<std::string> all = ranks.all_gather_texts(own);
    const auto other = std::find_if(all.begin(), all.end(), [&](const std::string& one) { return one != all.front(); });
    if (other == all.end()) return;
    throw ConfigError(concat(setting, "the ranks compute by different means, so their bits may differ although all of them are ",
                             "right\n  rank 0: ", all.front(), "\n  rank ", other - all.begin(), ": ", *other,
                             "\n  do: use hosts of one kind, or set it to 0"));
}

CrossCheck::CrossCheck(World& world, BatchLoader& loader, TrainStep& step, const FlatParameters& parameters, PhaseClock& clock)
    : world_(world), loader_(loader), step_(step), parameters_(parameters), clock_(clock) {}

TrainStep::AfterFirst CrossCheck::begin(std::int64_t step, const StepOpening& opening) {
    const std::optional<CrossCheckBatch>& batch = opening.batch.cross_check;
    if (!batch) return {};
    if (world_.size() == 1) {
        check_alone(step, opening);
        return {};
    }
    Digests others = digests(batch->micro_batch, opening.counts);
    const auto compare_own = [this, step, counts = opening.counts, checked = batch->rank,
                              others = std::move(others)](const Digests& own) { compare(step, counts, own, checked, others); };
    if (opening.counts.fewest_micro_batches > 1)
        return [this, compare_own](const at::Tensor& sums_S4) { compare_own(gradient_digests(parameters_, sums_S4)); };
    compare_own(digests(opening.batch.micro_batches.front(), opening.counts));
    return {};
}

CrossCheck::Digests CrossCheck::digests(const MicroBatch& micro, const StepCounts& whole) {
    const at::Tensor sums_S4 = step_.compute(micro, whole, clock_);
    return gradient_digests(parameters_, sums_S4);
}

void CrossCheck::check_alone(std::int64_t step, const StepOpening& opening) {
    const MicroBatch& micro = opening.batch.cross_check->micro_batch;
    const KernelDifference found =
        compare_with_reference(parameters_, [&] { return step_.compute(micro, opening.counts, clock_); });
    if (!found.is_fault()) {
        agreed_step_ = step - 1;
        return;
    }
    const SuspectRank suspect{0, host_name()};
    throw HardwareError(concat("step ", step, ": ", text_of(suspect), " computes wrongly: ", found.tensor,
                               " by its kernels and by plain ATen differ by ", found.error, ", and rounding explains at most ",
                               found.bound, what_to_do),
                        {suspect});
}

void CrossCheck::compare(std::int64_t step, const StepCounts& whole, const Digests& own, std::int64_t checked,
                         const Digests& others) {
    clock_.enter(Phase::communication);
    std::vector<CrossDigests> reports;
    for (const Digests& report : gather(world_, std::array{combined(own), static_cast<std::uint64_t>(checked), combined(others)}))
        reports.push_back({report[0], static_cast<std::int64_t>(report[1]), report[2]});
    const std::vector<Disagreement> found = disagreements(reports);
    if (found.empty()) {
        agreed_step_ = step - 1;
        return;
    }
    const Disagreement& first = found.front();
    const std::vector<Digests> all_own = gather(world_, own), all_others = gather(world_, others);
    const Digests &of_owner = all_own[static_cast<std::size_t>(first.owner)],
                  &of_checker = all_others[static_cast<std::size_t>(first.checker)];
    const auto differs = std::mismatch(of_owner.begin(), of_owner.end(), of_checker.begin()).first - of_owner.begin();
    std::set<std::int64_t> wrong;
    for (const Disagreement& one : found)
        for (const std::int64_t rank : locate(one, step, whole)) wrong.insert(rank);
    const bool certain = !wrong.empty();
    if (!certain) wrong = {first.owner, first.checker};
    const std::vector<SuspectRank> suspected = suspects({wrong.begin(), wrong.end()});
    throw HardwareError(
        concat("step ", step, ": ", text_of(suspected),
               certain ? " computed wrongly: " : " do not agree, and one computes wrongly: ", "ranks ", first.owner, " and ",
               first.checker, " got different bits for ", name_of(static_cast<std::size_t>(differs)),
               " of the first micro-batch of rank ", first.owner, what_to_do),
        suspected);
}

std::vector<std::int64_t> CrossCheck::locate(const Disagreement& found, std::int64_t step, const StepCounts& whole) {
    const MicroBatch micro = loader_.first_micro_batch(step, found.owner);
    std::vector<std::uint64_t> again;
    for (const Digests& of_rank : gather(world_, std::array{combined(digests(micro, whole))})) again.push_back(of_rank.front());
    const std::vector<std::int64_t> outvoted = outvoted_ranks(found, again);
    return outvoted.empty() ? unlike_reference(found, micro, whole) : outvoted;
}

std::vector<std::int64_t> CrossCheck::unlike_reference(const Disagreement& found, const MicroBatch& micro,
                                                       const StepCounts& whole) {
    std::vector<std::int64_t> ranks;
    for (const std::int64_t rank : {found.owner, found.checker}) {  // in turn, because ranks may be threads that share kernels
        const bool unlike = world_.rank() == rank &&
                            compare_with_reference(parameters_, [&] { return step_.compute(micro, whole, clock_); }).is_fault();
        if (world_.agree_on_largest(unlike ? 1 : 0) != 0) ranks.push_back(rank);
    }
    return ranks;
}

std::vector<SuspectRank> CrossCheck::suspects(const std::vector<std::int64_t>& ranks) {
    const std::vector<std::string> hosts = world_.all_gather_texts(host_name());
    std::vector<SuspectRank> found;
    for (const std::int64_t rank : ranks) found.push_back({rank, hosts[static_cast<std::size_t>(rank)]});
    return found;
}

std::string CrossCheck::name_of(std::size_t digest) const {
    const std::vector<PlacedParameter>& placed = parameters_.layout().parameters();
    return digest < placed.size() ? concat("the gradient of ", placed[digest].spec.name) : "the losses";
}

}  // namespace bertpretrain
