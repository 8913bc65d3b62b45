#include "parallel/gloo_tensors.h"

#include <vector>

namespace bertpretrain {
namespace {

constexpr int tags = 1 << 20;  // many more than are ever in flight

at::Tensor part(const at::Tensor& whole, std::int64_t parts, std::int64_t which) {
    const std::int64_t elements = whole.numel() / parts;
    return whole.narrow(0, which * elements, elements);
}

}  // namespace

GlooTensors::GlooTensors(const MeetingPlace& place, std::int64_t rank, std::int64_t size, const std::string& address,
                         std::chrono::milliseconds timeout)
    : rank_(rank),
      size_(size),
      upwards_(place, "tensors_upwards", rank, size, address, timeout),
      downwards_(place, "tensors_downwards", rank, size, address, timeout, &upwards_) {
    upwards_.admit_no_more();
}

template <class PartFor>
std::function<void()> GlooTensors::exchange(const char* what, const PartFor& part_for, const at::Tensor& output) {
    const int tag = next_tag_++ % tags;
    std::vector<std::function<void()>> arrivals;
    // Post all receives before any send. Each rank starts with a different peer.
    for (std::int64_t distance = 1; distance < size_; ++distance) {
        const std::int64_t from = (rank_ + size_ - distance) % size_;
        arrivals.push_back((from < rank_ ? upwards_ : downwards_).receive(what, part(output, size_, from), from, tag));
    }
    for (std::int64_t distance = 1; distance < size_; ++distance) {
        const std::int64_t to = (rank_ + distance) % size_;
        arrivals.push_back((rank_ < to ? upwards_ : downwards_).send(what, part_for(to), to, tag));
    }
    const at::Tensor own_there = part(output, size_, rank_), own_here = part_for(rank_);
    if (own_there.data_ptr() != own_here.data_ptr()) own_there.copy_(own_here);
    return [arrivals = std::move(arrivals)] {
        for (const auto& wait : arrivals) wait();
    };
}

std::function<void()> GlooTensors::all_to_all(const at::Tensor& input, const at::Tensor& output) {
    return exchange(
        "all-to-all", [&](std::int64_t rank) { return part(input, size_, rank); }, output);
}

std::function<void()> GlooTensors::all_gather(const at::Tensor& input, const at::Tensor& output) {
    return exchange(
        "all-gather", [&](std::int64_t) { return input; }, output);
}

void GlooTensors::set_timeout(std::chrono::milliseconds timeout) {
    upwards_.set_timeout(timeout);
    downwards_.set_timeout(timeout);
}

}  // namespace bertpretrain
