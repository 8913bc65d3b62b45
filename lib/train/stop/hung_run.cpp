#include "train/stop/hung_run.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <exception>
#include <thread>

#include <unistd.h>

#include "core/error.h"
#include "core/output/log.h"
#include "core/threads/thread_traces.h"
#include "train/stop/exit_record.h"

namespace bertpretrain {
namespace {

constexpr int code_of_hang = static_cast<int>(ExitCode::distributed);
constexpr unsigned seconds_to_tell = 60;
constexpr double seconds_for_last_messages = 10, seconds_for_log_lines = 2;

void give_up(int) { ::_exit(code_of_hang); }

}  // namespace

void end_hung_run(const std::filesystem::path& exit_file, const Launch& launch, const std::string& what) {
    std::signal(SIGALRM, give_up);
    ::alarm(seconds_to_tell);
    const DistributedError error(concat("rank ", launch.rank, " of ", launch.world_size, " hangs: ", what));
    log_error(concat(error.what(), "\n", thread_traces()));
    record_exit(exit_file, launch, error);
    flush_log(seconds_for_last_messages);
    ::_exit(code_of_hang);
}

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
