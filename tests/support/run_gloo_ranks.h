#pragma once
// Many ranks in one test, over real sockets.

#include "parallel/gloo_world.h"
#include "support/run_ranks.h"

namespace bertpretrain::testing {

/// As run_ranks; each thread has its own connections, as processes would.
inline void run_gloo_ranks(std::int64_t ranks, const std::function<void(World&)>& body) {
    const MeetingPlace server = MeetingPlace::on_this_host();
    run_ranks(ranks, [&](World& threads) {
        Launch launch;
        launch.rank = threads.rank();
        launch.world_size = ranks;
        launch.master_address = "127.0.0.1";
        launch.master_port = server.port();
        launch.agent_keeps_store = true;
        const MeetingPlace place(launch, std::chrono::seconds(20));
        GlooWorld world(place, launch.rank, ranks, "127.0.0.1", std::chrono::seconds(60));
        body(world);
        world.barrier();
    });
}

}  // namespace bertpretrain::testing
