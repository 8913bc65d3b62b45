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

pid_t start_child(const std::string& what, const std::function<void()>& work) {
    const Hdf5Lock lock;  // no other thread is inside the library while it is copied
    const pid_t child = ::fork();
    if (child == 0) work_and_exit(work);
    if (child < 0) throw DataError(concat(what, ": cannot start a process to try this file (", std::strerror(errno), ")"));
    return child;
}

void wait_for_child(const std::string& what, pid_t child) {
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    const std::string end = WIFSIGNALED(status) ? concat("signal ", WTERMSIG(status)) : concat("exit code ", WEXITSTATUS(status));
    throw DataError(concat(what, ": is damaged so that reading it crashes the HDF5 library (", end,
                           ")\n  do: copy or build this shard again"));
}

void read_whole(const std::filesystem::path& file) {
    const ShardReader reader(file);
    for (std::int64_t first = 0; first < reader.rows(); first += reader.band_rows())
        reader.read(first, std::min(reader.band_rows(), reader.rows() - first));
}

}  // namespace

void survive_in_child(const std::string& what, const std::function<void()>& work) {
    wait_for_child(what, start_child(what, work));
}

void probe_shard(const std::filesystem::path& file) {
    survive_in_child(file.string(), [&] { read_whole(file); });
}

std::vector<std::optional<DataError>> probe_shards(const std::vector<std::filesystem::path>& files, std::size_t processes) {
    std::vector<std::optional<DataError>> problems(files.size());
    std::vector<pid_t> children(files.size(), -1);
    const auto noting = [&](std::size_t i, const auto& action) {
        try {
            action(files[i].string());
        } catch (const DataError& error) { problems[i] = error; }
    };
    for (std::size_t i = 0; i < files.size() + processes; ++i) {
        if (i >= processes && children[i - processes] > 0)
            noting(i - processes, [&](const std::string& file) { wait_for_child(file, children[i - processes]); });
        if (i < files.size())
            noting(i, [&](const std::string& file) { children[i] = start_child(file, [&] { read_whole(files[i]); }); });
    }
    return problems;
}

}  // namespace bertpretrain
