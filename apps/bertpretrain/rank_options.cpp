#include "rank_options.h"

#include "core/error.h"
#include "core/output/log.h"
#include "parallel/local_ranks.h"
#include "parallel/make_world.h"

namespace bertpretrain {

void add_set_option(CLI::App& command, std::vector<std::string>& overrides) {
    command.add_option(
        "--set", overrides,
        "section.key=value: use this value instead of the file's. May be given several times; `config explain` lists "
        "the settings");
}

void add_local_ranks_option(CLI::App& command, std::int64_t& local_ranks) {
    command.add_option("--local-ranks", local_ranks, "Start this many processes on this host, which share the work")
        ->check(CLI::Range(1, 4096));
}

void add_device_options(CLI::App& command, std::string& precision, std::string& device) {
    command.add_option("--precision", precision, "Precision of matrix multiplications")
        ->check(CLI::IsMember({"fp32", "bf16"}))
        ->capture_default_str();
    command.add_option("--device", device, "The device to compute on")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
        ->capture_default_str();
}

std::optional<int> run_as_local_ranks(std::int64_t local_ranks, const Launch& launch, std::int64_t max_restarts,
                                      const WhenKilled& when_killed) {
    if (local_ranks > 0 && launch.launcher == "none") return run_local_ranks(local_ranks, max_restarts, when_killed);
    if (local_ranks > 0 && launch.world_size != local_ranks)
        throw ConfigError(concat("--local-ranks ", local_ranks, ": ", launch.launcher, " has started this process as rank ",
                                 launch.rank, " of ", launch.world_size, "; do not use both"));
    if (local_ranks == 0 && launch.unused_tasks > 1)
        log_warning(
            concat("this process works alone: SLURM_NTASKS = ", launch.unused_tasks,
                   ", but srun did not start it\n  do: start it with srun, or use --local-ranks N for ranks on this host"));
    return std::nullopt;
}

std::unique_ptr<World> patient_world(const Launch& launch) {
    constexpr std::chrono::minutes to_connect(30);
    constexpr std::chrono::hours to_work(24 * 7);
    std::unique_ptr<World> world = make_world(launch, to_connect);
    world->set_timeout(to_work);
    return world;
}

}  // namespace bertpretrain
