#pragma once
// Runs many ranks in one test, over real sockets.

#include "parallel/gloo_world.h"
#include "support/run_ranks.h"

namespace bertpretrain::testing {

/// As run_ranks, but each thread has its own connections, as processes would have.
inline void run_gloo_ranks(std::int64_t ranks, const std::function<void(World&)>& body) {
    const MeetingPlace place = MeetingPlace::in_this_process();
    run_ranks(ranks, [&](World& threads) {
        GlooWorld world(place, threads.rank(), ranks, "127.0.0.1", std::chrono::seconds(60));
        body(world);
        world.barrier();
    });
}

}  // namespace bertpretrain::testing
