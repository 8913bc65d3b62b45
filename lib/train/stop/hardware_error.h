#pragma once
// The error of a run whose hardware computes wrongly.

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace bertpretrain {

/// A rank that computed wrongly, or one of two that cannot be told apart.
struct SuspectRank {
    std::int64_t rank = 0;
    std::string host;
    bool operator==(const SuspectRank&) const = default;
};

/// [{"rank": 3, "host": "node7"}]
inline nlohmann::ordered_json to_json(const std::vector<SuspectRank>& suspects) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const SuspectRank& suspect : suspects) json.push_back({{"rank", suspect.rank}, {"host", suspect.host}});
    return json;
}

/// Found by a cross check. All ranks throw the same one.
struct HardwareError : DistributedError {
    HardwareError(const std::string& message, std::vector<SuspectRank> suspected)
        : DistributedError(message), suspects(std::move(suspected)) {}
    std::vector<SuspectRank> suspects;
};

}  // namespace bertpretrain
