#include "core/threads/cgroup.h"

#include "core/threads/threads.h"
#include "support/catch.h"
#include "support/files.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// A root folder with its own /proc and /sys.
struct System {
    void write(const std::string& file, const std::string& text) const {
        std::filesystem::create_directories((root / file).parent_path());
        write_text(root / file, text);
    }
    TemporaryFolder root;
};

}  // namespace

TEST_CASE("a control group's processor limit is the tightest of the group and those around it") {
    const System system;
    CHECK_FALSE(cgroup_core_limit(system.root.path()));
    system.write("proc/self/cgroup", "0::/pod/job\n");
    system.write("sys/fs/cgroup/pod/job/cpu.max", "max 100000\n");
    CHECK_FALSE(cgroup_core_limit(system.root.path()));
    system.write("sys/fs/cgroup/pod/cpu.max", "250000 100000\n");
    CHECK(cgroup_core_limit(system.root.path()) == 2.5);
    system.write("sys/fs/cgroup/pod/job/cpu.max", "400000 100000\n");
    CHECK(cgroup_core_limit(system.root.path()) == 2.5);
    system.write("sys/fs/cgroup/cpu.max", "150000 100000\n");  // a container sees its own group here
    CHECK(cgroup_core_limit(system.root.path()) == 1.5);
}

TEST_CASE("version 1 of control groups is understood, and -1 is no limit") {
    const System system;
    system.write("proc/self/cgroup", "12:cpuset:/a\n4:cpu,cpuacct:/a\n1:name=systemd:/\n");
    system.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
    system.write("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    CHECK_FALSE(cgroup_core_limit(system.root.path()));
    system.write("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "300000\n");
    CHECK(cgroup_core_limit(system.root.path()) == 3.0);
}

TEST_CASE("a control group's folder is the nearest one that is visible, of the version that has the controller") {
    const System system;
    CHECK_FALSE(cgroup_folder("memory", system.root.path()));
    system.write("proc/self/cgroup", "4:memory:/host/job\n0::/host/job\n");
    system.write("sys/fs/cgroup/memory/host/memory.usage_in_bytes", "1\n");
    const auto memory = cgroup_folder("memory", system.root.path());
    REQUIRE(memory);
    CHECK_FALSE(memory->is_version_2);
    CHECK(memory->folder == system.root / "sys/fs/cgroup/memory/host");
    system.write("proc/self/cgroup", "0::/host/job\n");
    const auto mounted_as_root = cgroup_folder("cpu", system.root.path());
    REQUIRE(mounted_as_root);
    CHECK(mounted_as_root->is_version_2);
    CHECK(mounted_as_root->folder == system.root / "sys/fs/cgroup/");
}

TEST_CASE("there is always a core to run on") { CHECK(available_cores() >= 1); }
