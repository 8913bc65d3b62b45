#include "core/threads/helper_cores.h"

#include <latch>
#include <string>
#include <vector>

#include <pthread.h>
#include <sched.h>

#include "core/threads/threads.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

cpu_set_t cores_of(pthread_t thread) {
    cpu_set_t cores;
    REQUIRE(::pthread_getaffinity_np(thread, sizeof cores, &cores) == 0);
    return cores;
}

/// Threads that sleep until the object ends.
class Helpers {
public:
    explicit Helpers(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) threads.emplace_back([this] { end_.wait(); });
    }
    ~Helpers() { end_.count_down(); }
    Helpers(const Helpers&) = delete;
    Helpers& operator=(const Helpers&) = delete;

private:
    std::latch end_{1};

public:
    std::vector<std::jthread> threads;
};

/// Moves the calling thread to a core and gives it all of its cores back.
void move_to(std::size_t core) {
    const cpu_set_t all = cores_of(::pthread_self());
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    REQUIRE(::sched_setaffinity(0, sizeof one, &one) == 0);
    REQUIRE(::sched_setaffinity(0, sizeof all, &all) == 0);
}

/// Calls avoid_owner() on a core that the owner does not leave meanwhile, and returns this core.
std::size_t avoid(HelperCores& cores, Helpers& helpers) {
    for (;;) {
        const int before = ::sched_getcpu();
        cores.avoid_owner(helpers.threads);
        if (::sched_getcpu() == before) return static_cast<std::size_t>(before);
    }
}

void write_busy_threads(const TemporaryFolder& root, std::size_t count) {
    std::filesystem::create_directories(root / "proc");
    write_text(root / "proc/loadavg", "0.20 0.18 3.12 " + std::to_string(count) + "/345 6789\n");
}

}  // namespace

TEST_CASE("a helper may run on all cores of its owner but the one on which the owner runs") {
    const cpu_set_t all = cores_of(::pthread_self());
    const TemporaryFolder root;
    write_busy_threads(root, 2);
    HelperCores cores(root.path());
    Helpers helpers(1);
    for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
        if (!CPU_ISSET(core, &all)) continue;
        move_to(core);
        cpu_set_t expected = all;
        const std::size_t owners = avoid(cores, helpers);
        if (CPU_COUNT(&all) > 1) CPU_CLR(owners, &expected);
        const cpu_set_t found = cores_of(helpers.threads[0].native_handle());
        CHECK(CPU_EQUAL(&found, &expected));
    }
}

TEST_CASE("helpers may run on their owner's core where there are fewer cores than threads, and in large pools") {
    const cpu_set_t all = cores_of(::pthread_self());
    const TemporaryFolder root;
    write_busy_threads(root, 2);
    HelperCores cores(root.path());
    const auto count = GENERATE_COPY(static_cast<std::size_t>(CPU_COUNT(&all)), std::size_t{8});
    Helpers helpers(count);
    avoid(cores, helpers);
    for (std::jthread& helper : helpers.threads) {
        const cpu_set_t found = cores_of(helper.native_handle());
        CHECK(CPU_EQUAL(&found, &all));
    }
}

TEST_CASE("a helper may run on its owner's core while as many other threads as there are cores are busy") {
    const cpu_set_t all = cores_of(::pthread_self());
    const TemporaryFolder root;
    const bool crowded = GENERATE(false, true);
    write_busy_threads(root, 2 + available_cores() - (crowded ? 0 : 1));
    HelperCores cores(root.path());
    Helpers helpers(1);
    avoid(cores, helpers);
    const cpu_set_t found = cores_of(helpers.threads[0].native_handle());
    CHECK(CPU_COUNT(&found) == (crowded || CPU_COUNT(&all) == 1 ? CPU_COUNT(&all) : CPU_COUNT(&all) - 1));
}
