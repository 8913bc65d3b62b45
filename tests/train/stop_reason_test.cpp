#include "train/stop/stop_reason.h"

#include <algorithm>
#include <csignal>
#include <vector>

#include "support/catch.h"

using namespace bertpretrain;

TEST_CASE("of several reasons to stop the largest counts, and messages between ranks keep the order") {
    using Kind = StopReason::Kind;
    const std::vector<StopReason> ascending{{},
                                            StopReason::by_signal(SIGHUP),
                                            StopReason::by_signal(SIGTERM),
                                            StopReason::by_signal(SIGRTMAX),
                                            {Kind::folder_moved},
                                            {Kind::folder_taken},
                                            {Kind::limit}};
    CHECK(std::is_sorted(ascending.begin(), ascending.end()));
    CHECK(StopReason().code() == 0);
    for (std::size_t i = 0; i < ascending.size(); ++i) {
        CHECK((StopReason::of_code(ascending[i].code()) == ascending[i]));
        CHECK(static_cast<bool>(ascending[i]) == (i > 0));
        if (i > 0) CHECK(ascending[i - 1].code() < ascending[i].code());
    }
}
