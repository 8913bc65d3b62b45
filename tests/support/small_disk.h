#pragma once
// File systems of a test's own, in a mount namespace that nobody else sees.

#include <string>

#include "support/command.h"
#include "support/skip.h"

namespace bertpretrain::testing {

/// `script` for a shell in a new mount namespace, with the right to mount. @returns a command
inline std::string in_mount_namespace(const std::string& script) {
    std::string quoted;
    for (const char c : script) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return "unshare --map-root-user --mount sh -c '" + quoted + "'";
}

}  // namespace bertpretrain::testing

/// Skips the test where mounting is not permitted.
#define NEEDS_MOUNTS()                                                                                                 \
    if (const auto mounts =                                                                                            \
            bertpretrain::testing::run_command(bertpretrain::testing::in_mount_namespace("mount -t tmpfs none /mnt")); \
        mounts.exit_code != 0)                                                                                         \
    SKIP_TEST(bertpretrain::testing::skip::no_mounts, mounts.err)
