#include "core/threads/numa.h"

#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

TEST_CASE("the kernel's folders of NUMA nodes are read in the order of their numbers, without nodes that have memory only") {
    const TemporaryFolder root;
    const auto add = [&](const std::string& name, const std::string& cores) {
        std::filesystem::create_directories(root / ("sys/devices/system/node/" + name));
        write_text(root / ("sys/devices/system/node/" + name + "/cpulist"), cores + "\n");
    };
    CHECK(numa_nodes(root.path()).empty());
    add("node10", "6");
    add("node2", "0-1,4-5");
    add("node3", "");
    add("power", "7");
    CHECK(numa_nodes(root.path()) == std::vector<NodeCores>{{0, 1, 4, 5}, {6}});
}

TEST_CASE("each rank has the cores of the nodes in which its share of the host lies") {
    const std::vector<NodeCores> two{{0, 1, 4, 5}, {2, 3, 6, 7}};
    CHECK(cores_of_rank(two, 0, 2) == two[0]);
    CHECK(cores_of_rank(two, 1, 2) == two[1]);
    for (const std::int64_t rank : {0, 1, 2, 3}) CHECK(cores_of_rank(two, rank, 4) == two[rank < 2 ? 0 : 1]);
    CHECK(cores_of_rank(two, 1, 3) == NodeCores{0, 1, 4, 5, 2, 3, 6, 7});  // its share is the cores 2.67 to 5.33
    CHECK(cores_of_rank(two, 0, 3) == two[0]);
    CHECK(cores_of_rank(two, 15, 16) == two[1]);
    const std::vector<NodeCores> four{{0}, {1}, {2}, {3}};
    CHECK(cores_of_rank(four, 1, 2) == NodeCores{2, 3});
}

TEST_CASE("a single rank of a host is not bound to a part of its cores") { CHECK(bind_to_numa_nodes(0, 1).empty()); }
