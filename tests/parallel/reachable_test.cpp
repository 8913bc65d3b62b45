#include "parallel/reachable.h"

#include <thread>

#include "core/error.h"
#include "parallel/listening_socket.h"
#include "parallel/store.h"
#include "support/catch.h"
#include "support/free_port.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
using std::chrono::milliseconds;

TEST_CASE("a server that begins to listen later is waited for") {
    const auto port = static_cast<std::uint16_t>(free_port());
    std::thread later([&] {
        std::this_thread::sleep_for(milliseconds(300));
        const ListeningSocket server("127.0.0.1", port, false);
        std::this_thread::sleep_for(milliseconds(2000));
    });
    CHECK_NOTHROW(wait_until_reachable("127.0.0.1", port, std::chrono::seconds(60)));
    later.join();
}

TEST_CASE("a server that does not come, and a host without a name, end the wait with the cause") {
    const auto port = static_cast<std::uint16_t>(free_port());
    CHECK_THROWS_WITH(wait_until_reachable("127.0.0.1", port, milliseconds(300)), Catch::Contains("refused"));
    CHECK_THROWS_WITH(wait_until_reachable("no-such-host.invalid", port, milliseconds(300)),
                      Catch::Contains("name", Catch::CaseSensitive::No));
}

TEST_CASE("a rank that does not reach the store says within its timeout why") {
    Launch launch;
    launch.launcher = "RANK and WORLD_SIZE";
    launch.rank = 1;
    launch.world_size = 2;
    launch.master_address = "127.0.0.1";
    launch.master_port = static_cast<std::uint16_t>(free_port());
    CHECK_THROWS_WITH(MeetingPlace(launch, std::chrono::seconds(1)),
                      Catch::Contains("rank 1 cannot reach the store") && Catch::Contains("refused"));
}
