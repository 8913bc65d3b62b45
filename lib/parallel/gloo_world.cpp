#include "parallel/gloo_world.h"

#include <array>

#include <ATen/ops/empty.h>

#include "core/error.h"
#include "parallel/rank_sum.h"

namespace bertpretrain {

struct GlooWorld::Rooms {
    std::array<at::Tensor, 2> rooms;  // as many as errands are under way
    std::size_t next = 0;

    /// Room for what is as large as `input`, not used by the reduce-scatter before.
    at::Tensor take(const at::Tensor& input) {
        at::Tensor& room = rooms.at(next);
        next = 1 - next;
        const auto bytes = static_cast<std::int64_t>(input.nbytes());
        if (!room.defined() || room.numel() < bytes) room = at::empty({bytes}, at::kByte);
        return room.narrow(0, 0, bytes).view(input.scalar_type());
    }
};

GlooWorld::GlooWorld(const MeetingPlace& place, std::int64_t rank, std::int64_t size, const std::string& address,
                     std::chrono::milliseconds patience)
    : rank_(rank),
      size_(size),
      tensors_(std::make_shared<GlooTensors>(place, rank, size, address, patience)),
      messages_(place, "messages", rank, size, address, patience),
      rooms_(std::make_shared<Rooms>()) {}

std::unique_ptr<Pending> GlooWorld::reduce_scatter(const at::Tensor& input, const at::Tensor& output) {
    check(input.numel() == output.numel() * size_, "reduce-scatter of ", input.numel(), " elements into ", output.numel());
    tensor_bytes_ += static_cast<double>(input.nbytes()) * static_cast<double>(size_ - 1) / static_cast<double>(size_);
    const auto parts = std::make_shared<at::Tensor>();
    Errand errand;
    errand.begin = [group = tensors_, rooms = rooms_, parts, input] {
        *parts = rooms->take(input);
        return group->all_to_all(input, *parts);
    };
    errand.finish = [parts, ranks = size_, output] { add_in_rank_order(*parts, ranks, output); };
    return courier_.send(std::move(errand));
}

std::unique_ptr<Pending> GlooWorld::all_gather(const at::Tensor& input, const at::Tensor& output) {
    check(output.numel() == input.numel() * size_, "all-gather of ", input.numel(), " elements into ", output.numel());
    tensor_bytes_ += static_cast<double>(input.nbytes()) * static_cast<double>(size_ - 1);
    return courier_.send({[group = tensors_, input, output] { return group->all_gather(input, output); }, nullptr, true});
}

void GlooWorld::set_patience(std::chrono::milliseconds patience) {
    tensors_->set_patience(patience);
    messages_.set_patience(patience);
}

Traffic GlooWorld::traffic() const {
    Traffic traffic = messages_.traffic();
    traffic.bytes_sent += tensor_bytes_;
    traffic.busy_seconds += courier_.busy_seconds();
    traffic.waited_seconds += courier_.waited_seconds();
    return traffic;
}

}  // namespace bertpretrain
