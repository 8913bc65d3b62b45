#pragma once
// What ranks say to each other from CPU to CPU, whatever carries their tensors.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "parallel/gloo_group.h"
#include "parallel/world.h"

namespace bertpretrain {

/// Messages on connections of their own, so that they overtake tensors.
class GlooMessages {
public:
    /// As GlooGroup's.
    GlooMessages(const MeetingPlace& place, std::int64_t rank, std::int64_t size, const std::string& address,
                 std::chrono::milliseconds patience)
        : group_(place, "messages", rank, size, address, patience), size_(size) {}

    /// As World::all_gather(own).
    std::vector<std::string> all_gather(std::string_view own);
    void set_patience(std::chrono::milliseconds patience) { group_.set_patience(patience); }
    /// Sender and computing stand still while a message travels: busy and waited are the same.
    const Traffic& traffic() const { return traffic_; }

private:
    GlooGroup group_;
    std::int64_t size_;
    Traffic traffic_;
};

}  // namespace bertpretrain
