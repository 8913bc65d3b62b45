#include "core/threads/physical_cores.h"

#include "core/threads/threads.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("hardware threads of one core count once, and one whose core is unknown counts as a core") {
    const TemporaryFolder root;
    const auto add = [&](int thread, const std::string& siblings) {
        const auto folder = root / ("sys/devices/system/cpu/cpu" + std::to_string(thread) + "/topology");
        std::filesystem::create_directories(folder);
        write_text(folder / "thread_siblings_list", siblings + "\n");
    };
    CHECK(physical_cores_of({0, 1, 2, 3}, root.path()) == 4);
    for (const int thread : {0, 2}) add(thread, "0,2");
    for (const int thread : {1, 3}) add(thread, "1,3");
    CHECK(physical_cores_of({0, 1, 2, 3}, root.path()) == 2);
    CHECK(physical_cores_of({0, 2}, root.path()) == 1);
    CHECK(physical_cores_of({0, 1}, root.path()) == 2);
    CHECK(physical_cores_of({0, 2, 7}, root.path()) == 2);
}

TEST_CASE("there is at least one available physical core, and no more than available cores") {
    CHECK(available_physical_cores() >= 1);
    CHECK(available_physical_cores() <= available_cores());
}
