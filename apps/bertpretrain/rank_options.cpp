#include "rank_options.h"

#include "core/error.h"
#include "parallel/local_ranks.h"
#include "parallel/make_world.h"

namespace bertpretrain {

void add_local_ranks_option(CLI::App& command, std::int64_t& local_ranks) {
    command.add_option("--local-ranks", local_ranks, "Share the work between so many processes on this host")
        ->check(CLI::Range(1, 4096));
}

std::optional<int> run_as_local_ranks(std::int64_t local_ranks, const Launch& launch) {
    if (local_ranks > 0 && launch.launcher == "none") return run_local_ranks(local_ranks);
    if (local_ranks > 0 && launch.world_size != local_ranks)
        throw ConfigError(concat("--local-ranks ", local_ranks, ": ", launch.launcher, " has started this process as rank ",
                                 launch.rank, " of ", launch.world_size, "; leave one of the two out"));
    return std::nullopt;
}

std::unique_ptr<World> patient_world(const Launch& launch) {
    constexpr std::chrono::minutes to_come(30);
    constexpr std::chrono::hours to_work(24 * 7);
    std::unique_ptr<World> world = make_world(launch, to_come);
    world->set_timeout(to_work);
    return world;
}

}  // namespace bertpretrain
