#include "parallel/gloo_messages.h"

#include <cstring>
#include <functional>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include "core/clock.h"
#include "core/concat.h"

namespace bertpretrain {
namespace {

/// Copies the message and one trailing byte, so that an empty message (a barrier) is a collective too.
void copy_with_byte_behind(std::string_view message, const at::Tensor& bytes) {
    bytes.fill_(0);
    if (!message.empty()) std::memcpy(bytes.mutable_data_ptr(), message.data(), message.size());
}

at::Tensor room_for(std::int64_t messages, std::string_view own) {
    return at::empty({messages, static_cast<std::int64_t>(own.size()) + 1}, at::kByte);
}

/// Splits the rows that copy_with_byte_behind() filled. @param first row of rank 0; after the last row comes row 0
std::vector<std::string> messages_in(const at::Tensor& rows, std::int64_t first = 0) {
    std::vector<std::string> messages;
    const auto* bytes = static_cast<const char*>(rows.const_data_ptr());
    for (std::int64_t rank = 0; rank < rows.size(0); ++rank) {
        const char* row = bytes + (first + rank) % rows.size(0) * rows.size(1);
        messages.emplace_back(row, static_cast<std::size_t>(rows.size(1) - 1));
    }
    return messages;
}

}  // namespace

std::vector<std::string> GlooMessages::all_gather(std::string_view own) {
    constexpr const char* what = "all-gather";
    const double begin = seconds_now();
    const at::Tensor rows = room_for(size_, own);  // row i: the message of rank (rank_ + i) % size_
    copy_with_byte_behind(own, rows[0]);
    // All receives begin first, so that their announcements reach the senders while earlier rounds are under way.
    std::vector<std::function<void()>> arrivals, departures;
    std::int64_t has = 1;
    for (const GatherRound& round : rounds_) {
        arrivals.push_back(
            group_.receive(what, rows.narrow(0, has, round.messages), round.from, 0, /*waits_for_others=*/has > 1));
        has += round.messages;
    }
    for (std::size_t i = 0; i < rounds_.size(); ++i) {
        departures.push_back(group_.send(what, rows.narrow(0, 0, rounds_[i].messages), rounds_[i].to, 0));
        arrivals[i]();
    }
    for (const auto& wait : departures) wait();
    traffic_.bytes_sent += static_cast<double>(rows.size(1) * (size_ - 1));
    traffic_.busy_seconds += seconds_now() - begin;
    traffic_.waited_seconds = traffic_.busy_seconds;
    return messages_in(rows, /*first=*/size_ - rank_);
}

std::vector<std::string> GlooMessages::gather_at_first(std::string_view own) {
    const at::Tensor input = room_for(1, own), output = room_for(rank_ == 0 ? size_ : 0, own);
    copy_with_byte_behind(own, input);
    group_.gather_at_first(input, output)();
    return messages_in(output);
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
