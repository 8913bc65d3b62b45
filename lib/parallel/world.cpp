#include "parallel/world.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/error.h"

namespace bertpretrain {
namespace {

std::vector<double> gather_integer(World& world, std::int64_t value) {
    const auto number = static_cast<double>(value);
    check(std::abs(number) < 0x1p53, "ranks agree on integers below 2^53, not on ", value);
    return world.all_gather(std::span(&number, 1));
}

std::unique_ptr<Pending> copy_unless_same(const at::Tensor& input, const at::Tensor& output) {
    check(input.numel() == output.numel(), "a world of one moves ", input.numel(), " elements into ", output.numel());
    if (input.const_data_ptr() != output.const_data_ptr()) output.copy_(input);
    return std::make_unique<Done>();
}

}  // namespace

std::vector<double> World::all_gather(std::span<const double> own) {
    std::vector<double> numbers;
    for (const std::string& message : all_gather(std::string_view(reinterpret_cast<const char*>(own.data()), own.size_bytes()))) {
        const std::size_t begin = numbers.size();
        numbers.resize(begin + own.size());
        if (!own.empty()) std::memcpy(numbers.data() + begin, message.data(), own.size_bytes());
    }
    return numbers;
}

std::vector<std::string> World::all_gather_texts(std::string_view own) {
    const auto own_length = static_cast<double>(own.size());
    const std::vector<double> lengths = all_gather(std::span(&own_length, 1));
    std::string padded(own);
    padded.resize(static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end())));
    std::vector<std::string> texts = all_gather(std::string_view(padded));
    for (std::size_t rank = 0; rank < texts.size(); ++rank) texts[rank].resize(static_cast<std::size_t>(lengths[rank]));
    return texts;
}

std::int64_t World::agree_on_largest(std::int64_t value) {
    const std::vector<double> all = gather_integer(*this, value);
    return static_cast<std::int64_t>(*std::max_element(all.begin(), all.end()));
}

std::int64_t World::sum(std::int64_t value) {
    const std::vector<double> all = gather_integer(*this, value);
    return static_cast<std::int64_t>(std::accumulate(all.begin(), all.end(), 0.0));
}

std::unique_ptr<Pending> SingleProcess::reduce_scatter(const at::Tensor& input, const at::Tensor& output) {
    return copy_unless_same(input, output);
}

std::unique_ptr<Pending> SingleProcess::all_gather(const at::Tensor& input, const at::Tensor& output) {
    return copy_unless_same(input, output);
}

}  // namespace bertpretrain
