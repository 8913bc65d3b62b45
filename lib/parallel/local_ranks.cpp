#include "parallel/local_ranks.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/environment.h"
#include "core/error.h"
#include "core/output/log.h"
#include "core/output/shared_failures.h"
#include "core/shell_command.h"
#include "core/signals.h"
#include "core/threads/physical_cores.h"
#include "parallel/launch_environment.h"
#include "parallel/nccl_environment.h"

namespace bertpretrain {
namespace {

constexpr auto time_to_notice = std::chrono::seconds(10), time_to_end = std::chrono::seconds(5);

// Two slots, so that a request to save does not erase a request to stop.
volatile std::sig_atomic_t stop_signal = 0, save_signal = 0;
void remember_stop(int number) { stop_signal = number; }
void remember_save(int number) { save_signal = number; }

/// Returns and clears the signal that arrived since the last call; 0: none.
int take(volatile std::sig_atomic_t& slot) {
    const int number = slot;
    if (number != 0) slot = 0;
    return number;
}

/// Returns this process's command line.
std::vector<std::string> own_arguments() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> arguments;
    for (std::string one; std::getline(file, one, '\0');) arguments.push_back(one);
    return arguments;
}

/// The ranks' store: an in-memory file without a name, which only they can open because they inherit its descriptor.
class LocalStore {
public:
    LocalStore() : descriptor_(::memfd_create("bertpretrain store", 0)) {
        if (descriptor_ < 0)
            throw DistributedError(
                concat("--local-ranks: cannot create an in-memory file for the store: ", std::strerror(errno)));
    }
    LocalStore(const LocalStore&) = delete;
    LocalStore& operator=(const LocalStore&) = delete;
    ~LocalStore() { ::close(descriptor_); }
    int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

std::vector<std::string> environment_of(std::int64_t rank, std::int64_t ranks, int store, int failures, std::int64_t attempt) {
    std::vector<std::string> variables;
    for (char** one = environ; *one != nullptr; ++one) variables.emplace_back(*one);
    for (const NcclVariable& set : nccl_environment())  // each rank sets these itself, and knows that it did
        if (!set.reason.empty())
            std::erase_if(variables, [&](const std::string& one) { return one.starts_with(set.name + "="); });
    const auto add = [&](const std::string& name, const auto& value) {
        const std::string beginning = name + "=";
        std::erase_if(variables, [&](const std::string& one) { return one.starts_with(beginning); });
        variables.push_back(concat(beginning, value));
    };
    add("RANK", rank);
    add("WORLD_SIZE", ranks);
    add("LOCAL_RANK", rank);
    add("LOCAL_WORLD_SIZE", ranks);
    add(local_store_variable, store);
    add(shared_failures_variable, failures);
    add("NCCL_SOCKET_IFNAME", "lo");  // by default NCCL would listen on a network interface
    add(local_ranks_variable, ranks);
    add(local_attempt_variable, attempt);
    if (attempt > 0) add(restart_variable, 1);  // a --resume that an earlier attempt has applied is then ignored
    if (!environment_variable("OMP_NUM_THREADS"))
        add("OMP_NUM_THREADS", std::max<std::int64_t>(1, static_cast<std::int64_t>(available_physical_cores()) / ranks));
    return variables;
}

class Ranks {
public:
    ~Ranks() { send(SIGKILL); }

    void start(std::int64_t rank, std::int64_t ranks, int store, int failures, std::int64_t attempt) {
        std::vector<std::string> arguments = own_arguments(), variables = environment_of(rank, ranks, store, failures, attempt);
        const std::vector<char*> argv = pointers_to(arguments), envp = pointers_to(variables);
        sigset_t all, before;  // signals stay blocked: one handled by the child between fork and execve would be lost
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
        const pid_t parent = ::getpid(), pid = ::fork();
        if (pid == 0) {  // only async-signal-safe calls here: the parent may have threads
            for (const int number : stop_signals) handle_signal(number, SIG_DFL);
            ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
            ::setpgid(0, 0);  // a terminal's Ctrl-C reaches only the parent, which forwards it
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (::getppid() != parent) ::_exit(127);
            ::execve("/proc/self/exe", argv.data(), envp.data());
            ::_exit(127);
        }
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        if (pid < 0)
            throw DistributedError(concat("--local-ranks: cannot start rank ", rank, " of ", ranks, ": too many processes?"));
        running_.emplace(pid, rank);
    }

    /// The first rank that a signal ended which this process did not send.
    const std::optional<KilledRank>& killed() const { return killed_; }
    bool any_running() const { return !running_.empty(); }
    void send(int signal) const {
        for (const auto& [pid, rank] : running_) ::kill(pid, signal);
    }

    /// Records the exit code of a rank that has ended. @returns whether one had ended
    /// @param were_told whether this process has terminated the ranks: a death by signal is then not a cause and not recorded
    bool collect(bool were_told) {
        int status = 0;
        const pid_t ended = ::waitpid(-1, &status, WNOHANG);
        if (ended <= 0) return false;
        const std::int64_t rank = running_.at(ended);
        running_.erase(ended);
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        if (!were_told || code < 128) codes_.push_back(code);
        if (!were_told && !killed_ && WIFSIGNALED(status)) killed_ = KilledRank{rank, WTERMSIG(status)};
        return true;
    }

    /// Returns the first cause: a rank's own failure takes precedence over other ranks' loss of that peer.
    /// @param asked_to_stop the stop signal that was forwarded to all ranks; 0: none
    int code(int asked_to_stop = 0) const {
        const auto lost = static_cast<int>(ExitCode::distributed);
        const auto cause =
            std::find_if(codes_.begin(), codes_.end(), [&](int code) { return code != 0 && code != lost && code < 128; });
        if (cause != codes_.end()) return *cause;
        if (std::all_of(codes_.begin(), codes_.end(), [](int code) { return code == 0; })) return 0;
        // A rank that was killed, or that lost a peer before its own save was complete, has not saved.
        if (asked_to_stop != 0) {
            const bool all_stopped =
                std::all_of(codes_.begin(), codes_.end(), [](int code) { return code == 0 || is_stop_code(code); });
            return all_stopped ? 128 + asked_to_stop : lost;
        }
        const int first = codes_.front();
        return is_stop_code(first) || first == 128 + SIGPIPE ? first : lost;
    }
    bool failed() const { return code() != 0; }

private:
    std::map<pid_t, std::int64_t> running_;  ///< ranks by their processes
    std::optional<KilledRank> killed_;
    std::vector<int> codes_;
};

/// Starts the ranks once and waits for them. @param asked_to_stop receives the stop signal that arrived meanwhile
int run_once(std::int64_t ranks, std::int64_t attempt, int& asked_to_stop, const WhenKilled& when_killed) {
    const LocalStore store;
    const SharedFailures failures;
    Ranks all;
    for (std::int64_t rank = 0; rank < ranks; ++rank) all.start(rank, ranks, store.descriptor(), failures.descriptor(), attempt);
    std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
    bool told_to_end = false;
    while (all.any_running()) {
        if (const int signal = take(save_signal); signal != 0) all.send(signal);
        if (const int signal = take(stop_signal); signal != 0) {
            asked_to_stop = signal;
            all.send(signal);  // a rank that also received it directly counts it once (train/stop/stop_request.h)
        }
        const auto now = std::chrono::steady_clock::now();
        if (all.collect(told_to_end)) {
            if (all.failed()) deadline = std::min(deadline, now + time_to_notice);
            continue;
        }
        if (now > deadline) {
            all.send(told_to_end ? SIGKILL : SIGTERM);
            told_to_end = true;
            deadline = now + time_to_end;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    if (const std::int64_t equal = failures.most(); equal > 1)
        log_error(concat("(", equal, " of ", ranks, " ranks ended with this error, which is printed once)"));
    const int code = all.code(asked_to_stop);
    // A stop signal also ends a rank that has not yet asked for it to be handled.
    if (code == static_cast<int>(ExitCode::distributed) && all.killed() && all.killed()->signal != asked_to_stop)
        when_killed(*all.killed(), attempt);
    return code;
}

}  // namespace

std::string text_of(const KilledRank& killed) {
    return concat("rank ", killed.rank, " was killed by signal ", killed.signal, " (", ::strsignal(killed.signal), ")",
                  killed.signal == SIGKILL ? ", as the kernel does where memory runs out" : "");
}

int run_local_ranks(std::int64_t ranks, std::int64_t max_restarts, const WhenKilled& when_killed) {
    for (const int number : stop_signals) handle_signal(number, remember_stop);
    handle_signal(SIGUSR1, remember_save);
    int asked_to_stop = 0;
    const WhenKilled tell = [&](const KilledRank& killed, std::int64_t attempt) {
        log_error(text_of(killed));
        if (when_killed) when_killed(killed, attempt);
    };
    for (std::int64_t restart = 0;; ++restart) {
        const int code = run_once(ranks, restart, asked_to_stop, tell);
        const bool may_help = code == static_cast<int>(ExitCode::distributed) || code == static_cast<int>(ExitCode::bug);
        if (!may_help || asked_to_stop != 0 || restart == max_restarts) return code;
        log_warning(concat("the ranks ended with exit code ", code, "; restart ", restart + 1, " of ", max_restarts));
    }
}

}  // namespace bertpretrain
