#include "model/parameter_layout.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "core/rounding.h"

namespace bertpretrain {
namespace {}  // namespace

std::int64_t ParameterSpec::elements() const {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

ParameterLayout::ParameterLayout(std::vector<ParameterSpec> specs, std::int64_t bucket_elements, std::int64_t shards)
    : shards_(shards) {
    check(shards >= 1 && bucket_elements >= 1, "ParameterLayout: expected at least one shard and one element per bucket");
    std::int64_t next = 0;
    for (std::size_t p = 0; p < specs.size(); ++p) {
        const bool opens = p == 0 || next == buckets_.back().end;
        if (opens) buckets_.push_back({next, -1});
        if (!specs[p].adjoins) next = rounded_up(next, alignment_elements);
        const std::int64_t begin = next;
        next += specs[p].elements();
        const bool last = p + 1 == specs.size();
        const bool full = next - buckets_.back().begin >= bucket_elements;
        const bool closes = last || specs[p].decays != specs[p + 1].decays ||
                            specs[p].fp32_gradient != specs[p + 1].fp32_gradient || (full && !specs[p + 1].adjoins);
        parameters_.push_back({std::move(specs[p]), begin, buckets_.size() - 1});
        if (!closes) continue;
        next = buckets_.back().begin + rounded_up(next - buckets_.back().begin, block_elements * shards);
        buckets_.back().end = next;
    }
}

std::int64_t ParameterLayout::parameter_elements() const {
    std::int64_t sum = 0;
    for (const PlacedParameter& parameter : parameters_) sum += parameter.spec.elements();
    return sum;
}

Bucket ParameterLayout::slice_of(std::size_t bucket, std::int64_t shard) const {
    const std::int64_t length = buckets_.at(bucket).elements() / shards_;
    const std::int64_t begin = buckets_[bucket].begin + shard * length;
    return {begin, begin + length};
}

std::vector<OwnedRun> ParameterLayout::owned_by(std::int64_t shard) const {
    std::vector<OwnedRun> runs;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
        const PlacedParameter& parameter = parameters_[p];
        const Bucket slice = slice_of(parameter.bucket, shard);
        const std::int64_t first = std::max(parameter.begin, slice.begin);
        const std::int64_t end = std::min(parameter.begin + parameter.spec.elements(), slice.end);
        if (first >= end) continue;
        const std::int64_t slice_start = buckets_[parameter.bucket].begin / shards_;
        runs.push_back({p, first - parameter.begin, first, slice_start + first - slice.begin, end - first});
    }
    return runs;
}

std::size_t ParameterLayout::index_of(const std::string& name) const {
    const auto found = std::find_if(parameters_.begin(), parameters_.end(), [&](const auto& p) { return p.spec.name == name; });
    check(found != parameters_.end(), "unknown parameter ", name);
    return static_cast<std::size_t>(found - parameters_.begin());
}

}  // namespace bertpretrain
