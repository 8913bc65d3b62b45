// Installed programs work without the source tree.
#include "core/error.h"
#include "support/catch.h"
#include "support/command.h"
#include "support/skip.h"

using namespace bertpretrain;
using namespace bertpretrain::testing;
namespace fs = std::filesystem;

TEST_CASE("an installed folder may be moved, and has the programs' libraries, manuals and completion") {
    const TemporaryFolder folder;
    const CommandResult installed =
        run_command(concat("cmake --install " PROGRAM_FOLDER " --prefix ", (folder / "here").string()));
    INFO(installed.err);
    REQUIRE(installed.exit_code == 0);
    const fs::path there = folder / "there";
    fs::rename(folder / "here", there);
    for (const std::string name : {"bertpretrain", "bertpretrain_data"}) {
        if (!fs::exists(PROGRAM_FOLDER "/" + name)) continue;
        const std::string program = (there / "bin" / name).string();
        const CommandResult version = run_command("env -i " + program + " --version");
        INFO(version.err);
        CHECK(version.exit_code == 0);
        const std::string libraries = run_command("env -i PATH=/usr/bin:/bin ldd " + program).out;
        INFO(libraries);
        CHECK(libraries.find("not found") == libraries.npos);
        CHECK(libraries.find("site-packages") == libraries.npos);
        CHECK((name == "bertpretrain_data" || libraries.find("there/bin/../lib/") != libraries.npos));
        CHECK(fs::file_size(there / "share/man/man1" / (name + ".1")) > 1000);
        CHECK(fs::file_size(there / "share/bash-completion/completions" / name) > 1000);
    }
    CHECK(fs::exists(there / "share/bertpretrain/configs/quickstart.json"));
}

TEST_CASE("the .deb installs on a clean Debian and trains the quickstart's model there", "[.long]") {
    if (run_command("test $(id -u) = 0 && command -v debootstrap && unshare --mount true").exit_code != 0)
        SKIP_TEST(skip::no_clean_system, "needs root, debootstrap and mount namespaces");
    const CommandResult result = run_command("scripts/check_package.sh 200");
    INFO(result.out << result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.out.find("trained 200 steps") != result.out.npos);
}

TEST_CASE("the programs start in a bare root with the packages of the GPU image's last stage", "[.long]") {
    if (run_command("test $(id -u) = 0 && command -v debootstrap && unshare --mount true").exit_code != 0)
        SKIP_TEST(skip::no_clean_system, "needs root, debootstrap and mount namespaces");
    const CommandResult result = run_command("scripts/check_image.sh");
    INFO(result.out << result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.out.find("libprometheus-cpp-pull") != result.out.npos);
}
