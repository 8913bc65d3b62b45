#include "parallel/gloo_messages.h"

#include <cstring>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include "core/clock.h"
#include "core/concat.h"

namespace bertpretrain {
namespace {

/// Returns the message plus one trailing byte, so that an empty message (a barrier) is a collective too.
at::Tensor with_byte_behind(std::string_view message) {
    at::Tensor bytes = at::empty({static_cast<std::int64_t>(message.size()) + 1}, at::kByte);
    bytes.fill_(0);
    if (!message.empty()) std::memcpy(bytes.mutable_data_ptr(), message.data(), message.size());
    return bytes;
}

/// Splits concatenated with_byte_behind() messages of `length` bytes each.
std::vector<std::string> messages_in(const at::Tensor& joined, std::size_t length) {
    std::vector<std::string> messages;
    const auto* bytes = static_cast<const char*>(joined.const_data_ptr());
    for (std::size_t at = 0; at < joined.nbytes(); at += length + 1) messages.emplace_back(bytes + at, length);
    return messages;
}

}  // namespace

std::vector<std::string> GlooMessages::all_gather(std::string_view own) {
    const double begin = seconds_now();
    const at::Tensor input = with_byte_behind(own), output = at::empty({size_ * input.numel()}, at::kByte);
    group_.all_gather(input, output)();
    traffic_.bytes_sent += static_cast<double>(input.numel() * (size_ - 1));
    traffic_.busy_seconds += seconds_now() - begin;
    traffic_.waited_seconds = traffic_.busy_seconds;
    return messages_in(output, own.size());
}

std::vector<std::string> GlooMessages::gather_at_first(std::string_view own) {
    const at::Tensor input = with_byte_behind(own);
    const at::Tensor output = at::empty({rank_ == 0 ? size_ * input.numel() : 0}, at::kByte);
    group_.gather_at_first(input, output)();
    return messages_in(output, own.size());
}

void GlooMessages::broadcast_from_first(std::span<std::byte> bytes) {
    if (bytes.empty()) return;
    group_.broadcast_from_first(at::from_blob(bytes.data(), {static_cast<std::int64_t>(bytes.size())}, at::kByte))();
}

void GlooMessages::set_timeout(std::chrono::milliseconds timeout) {
    timeout_ = timeout;
    group_.set_timeout(timeout);
}

std::unique_ptr<ControlGroup> GlooMessages::connect_again(const std::string& name) {
    return std::make_unique<GlooMessages>(place_, concat(name, again_++), rank_, size_, address_, timeout_);
}

}  // namespace bertpretrain
