#include "parallel/gradient_buckets.h"

#include "core/error.h"

namespace bertpretrain {

GradientBuckets::GradientBuckets(const FlatParameters& parameters, World& world, const Choices& choices)
    : parameters_(parameters),
      layout_(parameters.layout()),
      world_(world),
      choices_(choices),
      gathering_(layout_.buckets().size()) {
    check(layout_.shards() == world.size(), "layout with ", layout_.shards(), " shards, expected the world size ", world.size());
    check(choices.zero_stage == 0 || choices.zero_stage == 1, "unknown ZeRO stage ", choices.zero_stage);
    check(parameters.gradient_storage().bf16_elements() == 0 || (choices.zero_stage == 1 && world.size() > 1),
          "bf16 gradients have room for their fp32 sums only at ZeRO stage 1 and on several ranks");
}

at::ScalarType GradientBuckets::wire_of(std::size_t bucket) const {
    const bool narrow = layout_.buckets()[bucket].begin < parameters_.gradient_storage().bf16_elements();
    return narrow ? at::kBFloat16 : choices_.wire;
}

bool GradientBuckets::is_fp32(std::size_t bucket) const { return layout_.buckets()[bucket].begin >= parameters_.fp32_begin(); }

at::Tensor GradientBuckets::whole(const at::Tensor& flat, std::size_t bucket) const {
    const Bucket& range = layout_.buckets().at(bucket);
    return flat.narrow(0, range.begin, range.elements());
}

at::Tensor GradientBuckets::own(const at::Tensor& flat, std::size_t bucket) const {
    const Bucket range = layout_.slice_of(bucket, world_.rank());
    return flat.narrow(0, range.begin, range.elements());
}

at::Tensor GradientBuckets::in_slice(const at::Tensor& slice, std::size_t bucket) const {
    const Bucket& range = layout_.buckets().at(bucket);
    return slice.narrow(0, range.begin / layout_.shards(), range.elements() / layout_.shards());
}

void GradientBuckets::ready(std::size_t bucket) {
    check(bucket == ready_, "bucket ", bucket, " is ready, expected bucket ", ready_);
    ++ready_;
    if (alone()) return;
    const GradientStorage& storage = parameters_.gradient_storage();
    const Bucket& range = layout_.buckets().at(bucket);
    const at::Tensor gradients = storage.range(range.begin, range.elements()), wired = gradients.to(wire_of(bucket));
    if (choices_.zero_stage == 1) {
        // The reduced slices are packed at the front of the flat buffer, over gradients that have been sent already. Bucket b's
        // slice ends before b does. This holds for bf16 gradients too: their sums take twice the bytes, but one rank owns at most
        // half of them. When b's sums are written, the gradients of buckets 0..b are no longer needed.
        reducing_.push_back(world_.reduce_scatter(wired, in_slice(storage.front(layout_.slice_elements()), bucket)));
        return;
    }
    const Bucket slice = layout_.slice_of(bucket, world_.rank());
    const at::Tensor sums = storage.range(slice.begin, slice.elements());
    reducing_.push_back(world_.reduce_scatter(wired, sums));
    reducing_.push_back(world_.all_gather(sums, gradients));
}

at::Tensor GradientBuckets::finish() {
    check(ready_ == layout_.buckets().size(), "only ", ready_, " of ", layout_.buckets().size(), " buckets were ready");
    for (const auto& pending : reducing_) pending->wait();
    reducing_.clear();
    ready_ = 0;
    const bool sliced = choices_.zero_stage == 1 && !alone();
    return parameters_.gradient_storage().front(sliced ? layout_.slice_elements() : layout_.flat_elements());
}

void GradientBuckets::start_gather(const at::Tensor& master) {
    const at::Tensor& weights_fp32 = parameters_.fp32();
    const bool all_here = choices_.zero_stage == 0 || alone();
    for (std::size_t bucket = gathering_.size(); bucket-- > 0;) {
        const Bucket& range = layout_.buckets()[bucket];
        if (is_fp32(bucket)) {
            const at::Tensor target = weights_fp32.narrow(0, range.begin - parameters_.fp32_begin(), range.elements());
            if (all_here) target.copy_(whole(master, bucket));
            else gathering_[bucket] = world_.all_gather(in_slice(master, bucket), target);
        } else if (!all_here) {
            const at::Tensor& weights = parameters_.compute_weights();
            gathering_[bucket] = world_.all_gather(own(weights, bucket), whole(weights, bucket));
        }
    }
}

void GradientBuckets::wait_gathered(std::size_t bucket) {
    check(bucket < gathering_.size(), "no bucket ", bucket, "; there are ", gathering_.size());
    for (std::size_t b = gathering_.size(); b-- > bucket;) {
        if (!gathering_[b]) continue;
        gathering_[b]->wait();
        gathering_[b].reset();
    }
}

double GradientBuckets::bytes_per_step() const {
    const double others = static_cast<double>(world_.size() - 1) / static_cast<double>(world_.size());
    const double weight_bytes = parameters_.compute_dtype() == at::kFloat ? 4 : 2;
    double bytes = 0;
    for (std::size_t bucket = 0; bucket < gathering_.size(); ++bucket) {
        const double wire = wire_of(bucket) == at::kFloat ? 4 : 2;
        const double back = choices_.zero_stage == 0 || is_fp32(bucket) ? 4 : weight_bytes;
        bytes += static_cast<double>(layout_.buckets()[bucket].elements()) * (wire + back) * others;
    }
    return bytes;
}

}  // namespace bertpretrain
