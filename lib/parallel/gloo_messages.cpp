#include "parallel/gloo_messages.h"

#include <cstring>

#include <ATen/ops/empty.h>

#include "core/clock.h"

namespace bertpretrain {

std::vector<std::string> GlooMessages::all_gather(std::string_view own) {
    const double begin = seconds_now();
    const auto length = static_cast<std::int64_t>(own.size());
    const at::Tensor input = at::empty({length + 1}, at::kByte), output = at::empty({size_ * (length + 1)}, at::kByte);
    input.fill_(0);  // the byte behind the message: a message of no bytes is a meeting too
    if (length > 0) std::memcpy(input.mutable_data_ptr(), own.data(), own.size());
    group_.all_gather(input, output)();
    std::vector<std::string> messages;
    const auto* bytes = static_cast<const char*>(output.const_data_ptr());
    for (std::int64_t rank = 0; rank < size_; ++rank)
        messages.emplace_back(bytes + rank * (length + 1), static_cast<std::size_t>(length));
    traffic_.bytes_sent += static_cast<double>((length + 1) * (size_ - 1));
    traffic_.busy_seconds += seconds_now() - begin;
    traffic_.waited_seconds = traffic_.busy_seconds;
    return messages;
}

}  // namespace bertpretrain
