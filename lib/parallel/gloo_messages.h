#pragma once
// The control group of a run: host-side messages over Gloo, also where NCCL carries the tensors.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/gather_rounds.h"
#include "parallel/gloo_group.h"
#include "parallel/world.h"

namespace bertpretrain {

/// Sends messages over connections of its own, so that they overtake tensors. An all-gather takes ceil(log2(size)) rounds
/// (gather_rounds.h), one after the other: these messages are small, so the latency of the network decides how long they take.
class GlooMessages final : public ControlGroup {
public:
    /// Parameters and errors as for GlooGroup.
    GlooMessages(const MeetingPlace& place, const std::string& name, std::int64_t rank, std::int64_t size,
                 const std::string& address, std::chrono::milliseconds timeout)
        : place_(place),
          rank_(rank),
          size_(size),
          address_(address),
          timeout_(timeout),
          rounds_(gather_rounds(rank, size)),
          group_(place, name, rank, size, address, timeout) {
        group_.admit_no_more();
        peers_ = std::make_shared<const PeerNames>(all_gather_texts(own_sockets()));
        group_.set_peers(peers_);
        traffic_ = {};
    }

    /// The ranks' sockets, those of groups that were made before this one included.
    const std::shared_ptr<const PeerNames>& peers() const { return peers_; }

    std::int64_t rank() const override { return rank_; }
    std::int64_t size() const override { return size_; }
    using ControlGroup::all_gather;
    std::vector<std::string> all_gather(std::string_view own) override;
    std::vector<std::string> gather_at_first(std::string_view own) override;
    void broadcast_from_first(std::span<std::byte> bytes) override;
    void set_timeout(std::chrono::milliseconds timeout) override;

    /// See World::connect_again.
    std::unique_ptr<ControlGroup> connect_again(const std::string& name);

    /// Traffic of all_gather. The caller blocks while a message is in flight, so busy and waited seconds are equal.
    const Traffic& traffic() const { return traffic_; }

private:
    MeetingPlace place_;
    std::int64_t rank_, size_;
    std::string address_;
    std::chrono::milliseconds timeout_;
    std::vector<GatherRound> rounds_;
    std::int64_t again_ = 0;  ///< calls of connect_again()
    GlooGroup group_;
    std::shared_ptr<const PeerNames> peers_;
    Traffic traffic_;
};

}  // namespace bertpretrain
