#include "train/stop/hung_run.h"

#include <csignal>

#include <unistd.h>

#include "core/error.h"
#include "core/output/log.h"
#include "core/threads/thread_traces.h"
#include "train/stop/exit_record.h"

namespace bertpretrain {
namespace {

constexpr int exit_code = static_cast<int>(ExitCode::distributed);
constexpr unsigned seconds_to_tell = 60;
constexpr double seconds_for_last_messages = 10;

void give_up(int) { ::_exit(exit_code); }

}  // namespace

void end_hung_run(const std::filesystem::path& exit_file, const Launch& launch, const std::string& what) {
    std::signal(SIGALRM, give_up);
    ::alarm(seconds_to_tell);
    const DistributedError error(concat("rank ", launch.rank, " of ", launch.world_size, " hangs: ", what));
    log_error(concat(error.what(), "\n", thread_traces()));
    record_exit(exit_file, launch, error);
    flush_log(seconds_for_last_messages);
    ::_exit(exit_code);
}

}  // namespace bertpretrain
