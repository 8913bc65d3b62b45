#include "parallel/gradient_buckets.h"

#include <utility>

#include <ATen/ops/zeros.h>

#include "core/error.h"

namespace bertpretrain {

GradientBuckets::GradientBuckets(const ParameterLayout& layout, World& world, at::Tensor flat_gradients, at::Tensor flat_working)
    : layout_(layout),
      world_(world),
      flat_gradients_(std::move(flat_gradients)),
      flat_working_(std::move(flat_working)),
      reducing_(layout.buckets().size()),
      gathering_(layout.buckets().size()) {
    check(layout.shards() == world.size(), "a layout for ", layout.shards(), " shards in a world of ", world.size());
    check(flat_gradients_.numel() == layout.flat_elements() && flat_working_.numel() == layout.flat_elements(),
          "flat buffers of ", flat_gradients_.numel(), " and ", flat_working_.numel(), " elements, the layout has ",
          layout.flat_elements());
    const bool alone = world.size() == 1;
    gradient_slice_ = alone ? flat_gradients_ : at::zeros({layout.slice_elements()}, flat_gradients_.options());
    working_slice_ = alone ? flat_working_ : at::zeros({layout.slice_elements()}, flat_working_.options());
}

at::Tensor GradientBuckets::slice_part(const at::Tensor& slice, std::size_t bucket) const {
    const Bucket& whole = layout_.buckets().at(bucket);
    return slice.narrow(0, whole.begin / layout_.shards(), whole.elements() / layout_.shards());
}

at::Tensor GradientBuckets::flat_part(const at::Tensor& flat, std::size_t bucket) const {
    const Bucket& whole = layout_.buckets().at(bucket);
    return flat.narrow(0, whole.begin, whole.elements());
}

void GradientBuckets::ready(std::size_t bucket) {
    check(reducing_.at(bucket) == nullptr, "bucket ", bucket, " was already ready in this step");
    reducing_[bucket] = world_.reduce_scatter(flat_part(flat_gradients_, bucket), slice_part(gradient_slice_, bucket));
    reducing_order_.push_back(bucket);
}

const at::Tensor& GradientBuckets::finish() {
    check(reducing_order_.size() == reducing_.size(), "only ", reducing_order_.size(), " of ", reducing_.size(),
          " buckets were ready");
    for (const std::size_t bucket : reducing_order_) {
        reducing_[bucket]->wait();
        reducing_[bucket].reset();
    }
    reducing_order_.clear();
    return gradient_slice_;
}

void GradientBuckets::start_gather() {
    for (std::size_t bucket = gathering_.size(); bucket-- > 0;)
        gathering_[bucket] = world_.all_gather(slice_part(working_slice_, bucket), flat_part(flat_working_, bucket));
}

void GradientBuckets::wait_gathered(std::size_t bucket) {
    check(gathering_.at(bucket) != nullptr, "bucket ", bucket, " is not being gathered");
    gathering_[bucket]->wait();
    gathering_[bucket].reset();
}

void GradientBuckets::gather() {
    start_gather();
    for (std::size_t bucket = gathering_.size(); bucket-- > 0;) wait_gathered(bucket);
}

void GradientBuckets::gather_gradients() {
    for (std::size_t bucket = 0; bucket < gathering_.size(); ++bucket)
        world_.all_gather(slice_part(gradient_slice_, bucket), flat_part(flat_gradients_, bucket))->wait();
}

}  // namespace bertpretrain
