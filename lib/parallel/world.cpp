#include "parallel/world.h"

#include <ATen/core/Tensor.h>

#include "core/error.h"

namespace bertpretrain {
namespace {

std::unique_ptr<Pending> copy_unless_same(const at::Tensor& input, const at::Tensor& output) {
    check(input.numel() == output.numel(), "a world of one rank copies ", input.numel(), " elements into ", output.numel());
    if (input.const_data_ptr() != output.const_data_ptr()) output.copy_(input);
    return std::make_unique<Done>();
}

}  // namespace

std::unique_ptr<Pending> World::all_reduce(const at::Tensor& tensor) {
    const std::int64_t part = tensor.numel() / size();
    const at::Tensor own = tensor.narrow(0, rank() * part, part);
    reduce_scatter(tensor, own)->wait();
    all_gather(own, tensor)->wait();
    return std::make_unique<Done>();
}

std::unique_ptr<Pending> World::broadcast(const at::Tensor& tensor) {
    const at::Tensor on_host = tensor.cpu();
    broadcast_from_first({static_cast<std::byte*>(on_host.data_ptr()), on_host.nbytes()});
    if (!on_host.is_same(tensor)) tensor.copy_(on_host);
    return std::make_unique<Done>();
}

std::unique_ptr<Pending> SingleProcess::reduce_scatter(const at::Tensor& input, const at::Tensor& output) {
    return copy_unless_same(input, output);
}

std::unique_ptr<Pending> SingleProcess::all_gather(const at::Tensor& input, const at::Tensor& output) {
    return copy_unless_same(input, output);
}

}  // namespace bertpretrain
