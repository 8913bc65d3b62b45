#include "parallel/world.h"

#include "core/error.h"

namespace bertpretrain {
namespace {

std::unique_ptr<Pending> copy_unless_same(const at::Tensor& input, const at::Tensor& output) {
    check(input.numel() == output.numel(), "a world of one moves ", input.numel(), " elements into ", output.numel());
    if (input.const_data_ptr() != output.const_data_ptr()) output.copy_(input);
    return std::make_unique<Done>();
}

}  // namespace

std::unique_ptr<Pending> SingleProcess::reduce_scatter(const at::Tensor& input, const at::Tensor& output) {
    return copy_unless_same(input, output);
}

std::unique_ptr<Pending> SingleProcess::all_gather(const at::Tensor& input, const at::Tensor& output) {
    return copy_unless_same(input, output);
}

}  // namespace bertpretrain
