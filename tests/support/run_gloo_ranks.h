#pragma once
// Runs many ranks in one test, over real sockets.

#include <string>
#include <vector>

#include "parallel/gloo_world.h"
#include "support/run_ranks.h"

namespace bertpretrain::testing {

/// As run_ranks, but each thread has its own connections, as processes would have. @param node_of_rank the name of each rank's
/// node
inline void run_gloo_nodes(const std::vector<std::string>& node_of_rank, const std::function<void(World&)>& body) {
    const MeetingPlace place = MeetingPlace::in_this_process();
    const auto ranks = std::ssize(node_of_rank);
    run_ranks(ranks, [&](World& threads) {
        GlooWorld world(place, threads.rank(), ranks, "127.0.0.1", std::chrono::seconds(60),
                        node_of_rank[static_cast<std::size_t>(threads.rank())]);
        body(world);
        world.barrier();
    });
}

/// The same with all ranks on one node.
inline void run_gloo_ranks(std::int64_t ranks, const std::function<void(World&)>& body) {
    run_gloo_nodes(std::vector<std::string>(static_cast<std::size_t>(ranks), "here"), body);
}

}  // namespace bertpretrain::testing
