#include "core/threads/short_spinning.h"

#include <array>
#include <climits>
#include <cstdlib>

#include <unistd.h>

#include "core/environment.h"

namespace bertpretrain {

void shorten_spinning(char** argv) {
    if (is_set_in_environment("GOMP_SPINCOUNT") || is_set_in_environment("OMP_WAIT_POLICY")) return;
    if (::setenv("GOMP_SPINCOUNT", "1000", 1) != 0) return;
    // By its path, so that tools that list processes show its name instead of "exe".
    std::array<char, PATH_MAX> path{};
    if (::readlink("/proc/self/exe", path.data(), path.size() - 1) > 0) ::execv(path.data(), argv);
    ::execv("/proc/self/exe", argv);  // its file was replaced or deleted
}

}  // namespace bertpretrain
