// A run that does not use the host's GPU logs a warning.
#include "core/error.h"
#include "support/catch.h"
#include "support/small_disk.h"
#include "system/small_run.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;

namespace {

/// Returns the messages of a start on a host that has only the driver's device file. It ends at once, because there are no
/// shards.
std::string said_where_driver_is(const TemporaryFolder& folder, const std::string& settings, const std::string& variables = "") {
    const std::string dev = (folder / "dev").string();
    const std::string command = concat(variables, train_command(PROJECT_FOLDER "/configs/small.json", folder / "run",
                                                                "--set data.training_shards=nowhere " + settings));
    return run_command(
               in_mount_namespace(concat("mkdir -p ", dev, " && mount --rbind /dev ", dev, " && mount -t tmpfs none /dev && ",
                                         "for name in null zero random urandom; do touch /dev/$name; mount --bind ", dev,
                                         "/$name /dev/$name; done; touch /dev/nvidiactl; ", command)))
        .err;
}

}  // namespace

TEST_CASE("a run on the CPU of a host with an NVIDIA driver logs a warning, unless the settings ask for the CPU") {
    NEEDS_TRAIN();
    NEEDS_MOUNTS();
    if (std::filesystem::exists("/dev/nvidiactl")) SKIP_TEST(skip::gpu, "the program may use it");
    const TemporaryFolder folder;
    const std::string warning = "no GPU that this program can use";
    const std::string said = said_where_driver_is(folder, "");
    INFO(said);
    CHECK(said.find(warning) != said.npos);
    CHECK(said.find("nowhere") != said.npos);
    CHECK(said_where_driver_is(folder, "--set training.device=cpu").find(warning) == std::string::npos);
    CHECK(said_where_driver_is(folder, "", "export CUDA_VISIBLE_DEVICES=; ").find(warning) == std::string::npos);
}
