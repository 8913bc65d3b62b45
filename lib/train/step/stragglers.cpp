#include "train/step/stragglers.h"

#include <algorithm>

#include "core/concat.h"
#include "core/median.h"
#include "core/strings.h"

namespace bertpretrain {
namespace {

double work(const RankTimes& times) { return times.data_seconds + times.compute_seconds; }

double median_work(const std::vector<RankTimes>& ranks) {
    std::vector<double> works;
    for (const RankTimes& times : ranks) works.push_back(work(times));
    return median(works);
}

}  // namespace

std::optional<std::string> Stragglers::add(const std::vector<RankTimes>& ranks) {
    if (every_steps_ == 0 || ranks.size() < 2) return std::nullopt;
    sums_.resize(ranks.size());
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        sums_[r].data_seconds += ranks[r].data_seconds;
        sums_[r].compute_seconds += ranks[r].compute_seconds;
    }
    if (++steps_ < every_steps_) return std::nullopt;
    const auto slowest =
        std::max_element(sums_.begin(), sums_.end(), [](const auto& a, const auto& b) { return work(a) < work(b); });
    const auto per_step = [&](double seconds) { return fixed(seconds / static_cast<double>(steps_), 4); };
    const bool by_data = slowest->data_seconds > slowest->compute_seconds;
    const std::string text =
        concat("ranks over ", steps_, " steps: rank ", slowest - sums_.begin(), " is slowest, mostly in ",
               by_data ? "waiting for data" : "computing", ": ", per_step(slowest->compute_seconds), " s computing + ",
               per_step(slowest->data_seconds), " s data per step; median of ranks ", per_step(median_work(sums_)), " s");
    sums_.clear();
    steps_ = 0;
    return text;
}

}  // namespace bertpretrain
