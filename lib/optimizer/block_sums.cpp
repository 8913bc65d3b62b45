#include "optimizer/block_sums.h"

#include <algorithm>

#include "core/error.h"

namespace bertpretrain {
namespace {

static_assert(optimizer_block_elements == ParameterLayout::block_elements);

/// All parameters as runs of a slice that is the whole flat buffer.
std::vector<OwnedRun> all_runs(const ParameterLayout& layout) {
    std::vector<OwnedRun> runs;
    for (std::size_t p = 0; p < layout.parameters().size(); ++p) {
        const PlacedParameter& parameter = layout.parameters()[p];
        runs.push_back({p, 0, parameter.begin, parameter.begin, parameter.spec.elements()});
    }
    return runs;
}

BlockedRuns blocked(const std::vector<OwnedRun>& owned) {
    std::vector<TensorRun> runs;
    for (const OwnedRun& run : owned) runs.push_back({run.parameter, run.in_slice, run.in_flat, run.elements});
    return BlockedRuns(std::move(runs));
}

}  // namespace

BlockSums::BlockSums(const ParameterLayout& layout, std::optional<std::int64_t> shard)
    : tensors_(layout.parameters().size()),
      owned_runs_(shard ? layout.owned_by(*shard) : all_runs(layout)),
      own_(blocked(owned_runs_)) {
    check(!shard || (0 <= *shard && *shard < layout.shards()), "shard ", shard.value_or(0), " of ", layout.shards());
    for (std::int64_t s = 0; s < (shard ? layout.shards() : 1); ++s) {
        const BlockedRuns blocks = shard ? blocked(layout.owned_by(s)) : own_;
        std::vector<PartsOfTensor> runs;
        for (const TensorRun& part : blocks.parts) {
            if (runs.empty() || runs.back().tensor != part.tensor) runs.push_back({part.tensor, 0});
            ++runs.back().parts;
        }
        most_parts_ = std::max(most_parts_, blocks.parts.size());
        shards_.push_back(std::move(runs));
    }
}

std::vector<double> BlockSums::totals(std::span<const double> gathered, std::size_t columns) const {
    const std::size_t of_shard = most_parts_ * columns;
    check(gathered.size() == of_shard * shards_.size(), "got ", gathered.size(), " sums of ", shards_.size(),
          " shards, expected ", of_shard, " of each");
    std::vector<double> totals(tensors_ * columns);
    // A tensor is in one bucket, whose slices are ordered by shard, so this is the order of the flat buffer.
    for (std::size_t s = 0; s < shards_.size(); ++s) {
        const double* next = gathered.data() + s * of_shard;
        for (const PartsOfTensor& run : shards_[s])
            for (std::size_t part = 0; part < run.parts; ++part)
                for (std::size_t column = 0; column < columns; ++column) totals[run.tensor * columns + column] += *next++;
    }
    return totals;
}

}  // namespace bertpretrain
