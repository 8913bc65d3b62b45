#include "train/stop/leaving.h"

#include <atomic>
#include <chrono>
#include <exception>
#include <thread>

#include <unistd.h>

#include "core/error.h"
#include "core/output/log.h"

namespace bertpretrain {
namespace {

constexpr double seconds_for_log_lines = 2;

}  // namespace

void limit_leaving(double seconds, int exit_code, const std::string& cause) noexcept {
    static std::atomic<bool> is_limited = false;
    if (is_limited.exchange(true)) return;
    try {
        std::thread([seconds, exit_code, cause] {
            std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
            log_error(concat(cause, "\n  the process has not ended after ", seconds,
                             " s, because one of its threads does not end: it waits for a disk or network file system that ",
                             "does not respond, or for NCCL, which takes up to 60 s to end after a failure; ending it now"));
            flush_log(seconds_for_log_lines);
            ::_exit(exit_code);
        }).detach();
    } catch (const std::exception& error) {
        log_warning(concat("cannot limit the time that the process takes to end: ", error.what()));
    }
}

}  // namespace bertpretrain
