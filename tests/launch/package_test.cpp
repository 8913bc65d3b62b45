// The .deb, where nothing else of ours is.
#include "support/catch.h"
#include "support/command.h"

using namespace bertpretrain::testing;

TEST_CASE("the .deb installs on a clean Debian and trains quickstart's model there", "[.long]") {
    if (run_command("test $(id -u) = 0 && command -v debootstrap && unshare --mount true").exit_code != 0) {
        WARN("skipped, not shown: needs root, debootstrap and mount namespaces");
        return;
    }
    const CommandResult result = run_command("scripts/check_package.sh 200");
    INFO(result.out << result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.out.find("trained 200 steps") != result.out.npos);
}
