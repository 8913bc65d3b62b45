#pragma once
// Private file systems for a test, in its own mount namespace.

#include <string>

#include "support/command.h"
#include "support/skip.h"

namespace bertpretrain::testing {

/// Returns a command that runs `script` in a shell in a new mount namespace, with permission to mount.
inline std::string in_mount_namespace(const std::string& script) {
    std::string quoted;
    for (const char c : script) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return "unshare --map-root-user --mount sh -c '" + quoted + "'";
}

}  // namespace bertpretrain::testing

/// Skips the test if mounting is refused.
#define NEEDS_MOUNTS()                                                                                                 \
    if (const auto mounts =                                                                                            \
            bertpretrain::testing::run_command(bertpretrain::testing::in_mount_namespace("mount -t tmpfs none /mnt")); \
        mounts.exit_code != 0)                                                                                         \
    SKIP_TEST(bertpretrain::testing::skip::no_mounts, mounts.err)
