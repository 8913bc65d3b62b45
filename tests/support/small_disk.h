#pragma once
// File systems of a test's own, in a mount namespace that nobody else sees.

#include <string>

#include "support/command.h"

namespace bertpretrain::testing {

/// `script` for a shell in a new mount namespace, with the right to mount. @returns a command
inline std::string in_mount_namespace(const std::string& script) {
    std::string quoted;
    for (const char c : script) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return "unshare --map-root-user --mount sh -c '" + quoted + "'";
}

}  // namespace bertpretrain::testing

/// Ends the test case with a printed reason where mounting is refused.
#define NEEDS_MOUNTS()                                                                                                 \
    if (const auto mounts =                                                                                            \
            bertpretrain::testing::run_command(bertpretrain::testing::in_mount_namespace("mount -t tmpfs none /mnt")); \
        mounts.exit_code != 0) {                                                                                       \
        WARN("skipped, not shown: no mount namespaces to be had here: " << mounts.err);                                \
        return;                                                                                                        \
    }
