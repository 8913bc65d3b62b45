#include "parallel/gloo_world.h"

#include <array>

#include <ATen/ops/empty.h>

#include "core/error.h"
#include "parallel/gloo_stages.h"

namespace bertpretrain {

struct GlooWorld::Rooms {
    std::array<at::Tensor, 2> rooms;  // one per task in flight
    std::size_t next = 0;

    /// Returns a buffer that the previous reduce-scatter does not use.
    at::Tensor take(std::int64_t bytes) {
        at::Tensor& room = rooms.at(next);
        next = 1 - next;
        if (!room.defined() || room.numel() < bytes) room = at::empty({bytes}, at::kByte);
        return room;
    }
};

GlooWorld::GlooWorld(const MeetingPlace& place, std::int64_t rank, std::int64_t size, const std::string& address,
                     std::chrono::milliseconds timeout, const std::string& node)
    : rank_(rank),
      size_(size),
      tensors_(std::make_shared<GlooTensors>(place, rank, size, address, timeout)),
      messages_(place, "messages", rank, size, address, timeout),
      route_(std::make_shared<const NodeRoute>(messages_.all_gather_texts(node), rank)),
      rooms_(std::make_shared<Rooms>()) {
    tensors_->set_peers(messages_.peers());
}

std::unique_ptr<Pending> GlooWorld::reduce_scatter(const at::Tensor& input, const at::Tensor& output) {
    check(input.numel() == output.numel() * size_, "reduce-scatter of ", input.numel(), " elements into ", output.numel());
    tensor_bytes_ += static_cast<double>(input.nbytes()) * static_cast<double>(size_ - 1) / static_cast<double>(size_);
    const auto reduction = std::make_shared<GlooReduction>(tensors_, route_, input);
    AsyncTask task;
    task.begin = [reduction, rooms = rooms_] { return reduction->begin(rooms->take(reduction->room_bytes())); };
    task.finish = [reduction, output] { reduction->finish(output); };
    return queue_.send(std::move(task));
}

std::unique_ptr<Pending> GlooWorld::all_gather(const at::Tensor& input, const at::Tensor& output) {
    check(output.numel() == input.numel() * size_, "all-gather of ", input.numel(), " elements into ", output.numel());
    tensor_bytes_ += static_cast<double>(input.nbytes()) * static_cast<double>(size_ - 1);
    const int tag_of_rail = tensors_->take_tag(), tag_of_node = tensors_->take_tag();
    return queue_.send({[tensors = tensors_, route = route_, tag_of_rail, tag_of_node, input, output] {
                            return gather_over(tensors, route, tag_of_node, tag_of_rail, input, output);
                        },
                        nullptr, true});
}

std::unique_ptr<Pending> GlooWorld::all_reduce(const at::Tensor& tensor) {
    tensor_bytes_ += 2 * static_cast<double>(tensor.nbytes()) * static_cast<double>(size_ - 1) / static_cast<double>(size_);
    return queue_.send({[group = tensors_, tensor] { return group->all_reduce(tensor); }, nullptr, true});
}

void GlooWorld::set_timeout(std::chrono::milliseconds timeout) {
    tensors_->set_timeout(timeout);
    messages_.set_timeout(timeout);
}

Traffic GlooWorld::traffic() const {
    Traffic traffic = messages_.traffic();
    traffic.bytes_sent += tensor_bytes_;
    traffic.busy_seconds += queue_.busy_seconds();
    traffic.waited_seconds += queue_.waited_seconds();
    return traffic;
}

}  // namespace bertpretrain
