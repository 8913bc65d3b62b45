#include "core/threads/core_waiting.h"

#include <filesystem>
#include <fstream>
#include <system_error>

namespace bertpretrain {

std::optional<double> seconds_without_core() {
    std::error_code error;
    std::optional<double> sum;
    for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task", error)) {
        std::ifstream numbers(thread.path() / "schedstat");
        double running = 0, waiting = 0;
        if (numbers >> running >> waiting) sum = sum.value_or(0) + 1e-9 * waiting;
    }
    return sum;
}

}  // namespace bertpretrain
