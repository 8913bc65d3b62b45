// Readings of the ranks' devices, gathered once a minute.
#include "train/start/rank_devices.h"

#include <cmath>

#include "core/host_name.h"
#include "support/catch.h"
#include "support/process.h"
#include "support/run_ranks.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("rank 0 asks for readings at once and then not for a minute; the other ranks do not ask") {
    run_ranks(2, [](World& world) {
        RankDevices devices(world, std::nullopt, 1, false);
        check(devices.due() == (world.rank() == 0), "the first question");
        check(!devices.due(), "the second question");
    });
}

TEST_CASE("the numbers of all ranks are put together with the names of their hosts and devices") {
    run_ranks(3, [](World& world) {
        RankDevices devices(world, world.rank() == 2 ? std::optional<std::int64_t>(5) : std::nullopt, 1, world.rank() == 0);
        for (int i = 0; i < 6000 && world.rank() != 2 && std::isnan(devices.numbers().at(1)); ++i) sleep_seconds(0.01);
        const std::vector<double> own = devices.numbers();
        const DevicesRecord record = devices.record(7, world.all_gather(std::span(own)));
        check(record.step == 7 && record.ranks.size() == 3, "sizes");
        check(record.ranks[1].host == host_name() && record.ranks[1].device == "cpu" && record.ranks[1].rank == 1,
              "rank 1's name");
        check(record.ranks[2].device == "cuda:5", "rank 2's device");
        check(record.ranks[0].reading.memory_bytes > 1e6 && record.ranks[1].reading.memory_bytes > 1e6, "memory");
        check(record.ranks[0].reading.memory_total_bytes > 1e6, "the host's memory");
        check(std::isnan(record.ranks[1].reading.memory_total_bytes), "the host's memory is read by one rank");
    });
}
