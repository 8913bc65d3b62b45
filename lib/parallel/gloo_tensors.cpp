#include "parallel/gloo_tensors.h"

#include "core/error.h"

namespace bertpretrain {
namespace {

constexpr int tags = 1 << 20;  // many more than are ever in flight

}  // namespace

GlooTensors::GlooTensors(const MeetingPlace& place, std::int64_t rank, std::int64_t size, const std::string& address,
                         std::chrono::milliseconds timeout)
    : rank_(rank),
      upwards_(place, "tensors_upwards", rank, size, address, timeout),
      downwards_(place, "tensors_downwards", rank, size, address, timeout, &upwards_) {
    upwards_.admit_no_more();
}

int GlooTensors::take_tag() { return next_tag_++ % tags; }

std::function<void()> GlooTensors::exchange(const char* what, int tag, const std::vector<Transfer>& sends,
                                            const std::vector<Transfer>& receives, bool waits_for_others) {
    std::vector<std::function<void()>> arrivals;
    std::vector<at::Tensor> to_itself, from_itself;
    // All receives begin before any send.
    for (const auto& [tensor, from] : receives) {
        if (from == rank_) from_itself.push_back(tensor);
        else arrivals.push_back((from < rank_ ? upwards_ : downwards_).receive(what, tensor, from, tag, waits_for_others));
    }
    for (const auto& [tensor, to] : sends) {
        if (to == rank_) to_itself.push_back(tensor);
        else arrivals.push_back((rank_ < to ? upwards_ : downwards_).send(what, tensor, to, tag));
    }
    check(to_itself.size() == from_itself.size(), to_itself.size(), " tensors sent to this rank itself, but ", from_itself.size(),
          " received from it");
    for (std::size_t i = 0; i < to_itself.size(); ++i)
        if (from_itself[i].data_ptr() != to_itself[i].data_ptr()) from_itself[i].copy_(to_itself[i]);
    return [arrivals = std::move(arrivals)] {
        for (const auto& wait : arrivals) wait();
    };
}

void GlooTensors::set_timeout(std::chrono::milliseconds timeout) {
    upwards_.set_timeout(timeout);
    downwards_.set_timeout(timeout);
}

}  // namespace bertpretrain
