#include "shards/shard_probe.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"
#include "shards/hdf5_handle.h"
#include "shards/shard_reader.h"

namespace bertpretrain {
namespace {

constexpr unsigned longest_seconds = 600;

[[noreturn]] void work_and_exit(const std::function<void()>& work) {
    const rlimit no_core{0, 0};
    ::setrlimit(RLIMIT_CORE, &no_core);
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGALRM}) std::signal(number, SIG_DFL);
    ::alarm(longest_seconds);
    try {
        work();
    } catch (const std::exception&) {  // the parent will meet the same where it can be reported
    }
    ::_exit(0);
}

}  // namespace

void survive_in_child(const std::string& what, const std::function<void()>& work) {
    pid_t child = -1;
    {
        const Hdf5Lock lock;  // no other thread is inside the library while it is copied
        child = ::fork();
        if (child == 0) work_and_exit(work);
    }
    if (child < 0) throw DataError(concat(what, ": cannot start a process to try this file (", std::strerror(errno), ")"));
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const std::string end = WIFSIGNALED(status) ? concat("signal ", WTERMSIG(status)) : concat("exit code ", WEXITSTATUS(status));
    throw DataError(concat(what, ": is damaged so that reading it crashes the HDF5 library (", end,
                           ")\n  do: copy or build this shard again"));
}

void probe_shard(const std::filesystem::path& file) {
    survive_in_child(file.string(), [&] {
        const ShardReader reader(file);
        for (std::int64_t first = 0; first < reader.rows(); first += reader.band_rows())
            reader.read(first, std::min(reader.band_rows(), reader.rows() - first));
    });
}

}  // namespace bertpretrain
