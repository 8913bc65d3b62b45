#include "train/stop/stop_agreement.h"

#include <csignal>

#include "support/catch.h"
#include "support/process.h"
#include "support/run_ranks.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("all ranks leave long work at the same border when one was asked to stop, however fast each is") {
    StopRequest requests;
    requests.await_requests();
    std::vector<int> left_at(3, -1);
    run_ranks(3, [&](World& world) {
        StopAgreement agreement(world, requests);
        agreement.begin();
        for (int border = 1; border <= 200; ++border) {
            sleep_seconds(world.rank() == 1 ? 0.004 : 0.001);
            if (world.rank() == 2 && border == 40) std::raise(SIGTERM);
            if (!agreement.leave()) continue;
            left_at[static_cast<std::size_t>(world.rank())] = border;
            break;
        }
    });
    CHECK(left_at[0] >= 40);
    CHECK(left_at[0] <= 128);  // with agreements at 1, 3, 7, ... while they are less than seconds apart
    CHECK(left_at == std::vector<int>(3, left_at[0]));
}

TEST_CASE("work that is short never asks") {
    StopRequest requests;
    requests.await_requests();
    run_ranks(1, [&](World& world) {
        StopAgreement agreement(world, requests);
        for (int work = 0; work < 10; ++work) {  // learns how short it is
            agreement.begin();
            for (int border = 0; border < 100; ++border) agreement.leave();
        }
        std::raise(SIGINT);
        agreement.begin();
        bool left = false;
        for (int border = 0; border < 10; ++border) left = left || agreement.leave();
        CHECK_FALSE(left);
        CHECK((requests.reason() == StopReason::by_signal(SIGINT)));
    });
}

TEST_CASE("a request for a checkpoint is answered once, and is no request to stop") {
    StopRequest requests;
    CHECK_FALSE(requests.take_save_request());
    std::raise(SIGUSR1);
    CHECK(requests.take_save_request());
    CHECK_FALSE(requests.take_save_request());
    CHECK_FALSE(requests.reason());
}
