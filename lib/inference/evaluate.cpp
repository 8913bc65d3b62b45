#include "inference/evaluate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

namespace bertpretrain {
namespace {

struct RankSums {
    LossValues losses;
    double masked = 0, sequences = 0;
};

RankSums sum_of_ranks(World& world, const RankSums& own) {
    const std::array numbers{own.losses.mlm_loss, own.losses.mlm_correct, own.losses.nsp_loss, own.losses.nsp_correct,
                             own.masked,          own.sequences};
    const std::vector<double> of_all = world.all_gather(std::span<const double>(numbers));
    std::array<double, numbers.size()> sums{};
    for (std::size_t i = 0; i < of_all.size(); ++i) sums[i % sums.size()] += of_all[i];
    return {{sums[0], sums[1], sums[2], sums[3]}, sums[4], sums[5]};
}

}  // namespace

EvaluationRecord evaluate(const Bert& bert, EvaluationBatches& batches, World& world, std::int64_t step) {
    return *evaluate(bert, batches, world, step, [] { return false; });
}

std::optional<EvaluationRecord> evaluate(const Bert& bert, EvaluationBatches& batches, World& world, std::int64_t step,
                                         const std::function<bool()>& leave) {
    batches.rewind();
    const std::int64_t borders = batches.fewest_batches() - 1;  // some ranks may have one batch more
    std::int64_t begun = 0;
    std::optional<LossSums> sums;
    RankSums own;
    while (const auto batch = batches.next()) {
        if (++begun > 1 && begun <= borders + 1 && leave()) return std::nullopt;
        if (!sums) sums.emplace(batch->device());
        bert.add_losses(*batch, *sums);
        own.masked += static_cast<double>(batch->masked());
        own.sequences += static_cast<double>(batch->sequences());
    }
    if (sums) own.losses = sums->values();
    const RankSums whole = sum_of_ranks(world, own);
    const double masked = std::max(1.0, whole.masked), sequences = std::max(1.0, whole.sequences);
    EvaluationRecord record;
    record.step = step;
    record.mlm_loss = whole.losses.mlm_loss / masked;
    record.mlm_accuracy = whole.losses.mlm_correct / masked;
    record.perplexity = std::exp(record.mlm_loss);
    record.next_sentence = bert.config().next_sentence;
    record.nsp_loss = whole.losses.nsp_loss / sequences;
    record.nsp_accuracy = whole.losses.nsp_correct / sequences;
    record.sequences = static_cast<std::int64_t>(whole.sequences);
    return record;
}

}  // namespace bertpretrain
