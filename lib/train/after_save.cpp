#include "train/after_save.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/log.h"
#include "core/signals.h"

namespace bertpretrain {
namespace {

constexpr std::size_t most_at_once = 2;
constexpr double seconds_to_end = 10;          ///< between SIGTERM and SIGKILL
constexpr double seconds_between_looks = 0.2;  ///< between checks of a lock, which may be on a file server
constexpr double worth_a_line_seconds = 1;     ///< a shorter wait is not logged

/// @param lock descriptor of a file that the command keeps open; -1: none
/// @returns the process id, or -1 with `failure` set to the errno
pid_t spawn_shell(const std::string& command, const std::string& folder, int lock, int& failure) {
    std::vector<std::string> texts{"sh", "-c", command, "after_save", folder}, variables;
    for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
    variables.push_back("BERTPRETRAIN_CHECKPOINT=" + folder);
    const auto pointers = [](std::vector<std::string>& from) {
        std::vector<char*> out;
        for (std::string& text : from) out.push_back(text.data());
        out.push_back(nullptr);
        return out;
    };
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    // A new session shields the command from signals to this terminal or process group. Signals that this process ignores are
    // reset to their defaults.
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
    const sigset_t ignored = signals_ignored_here();
    ::posix_spawnattr_setsigdefault(&attributes, &ignored);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    // Close the connections to other ranks: while the command held them open, those ranks would not notice this process's death.
    constexpr int first = STDERR_FILENO + 1;
    if (lock >= 0) {
        ::posix_spawn_file_actions_adddup2(&files, lock, first);
        ::posix_spawn_file_actions_addclosefrom_np(&files, first + 1);
        ::posix_spawn_file_actions_adddup2(&files, first, CommandLock::inherited);
        ::posix_spawn_file_actions_addclose(&files, first);
    } else {
        ::posix_spawn_file_actions_addclosefrom_np(&files, first);
    }
    pid_t process = -1;
    failure = ::posix_spawn(&process, "/bin/sh", &files, &attributes, pointers(texts).data(), pointers(variables).data());
    ::posix_spawn_file_actions_destroy(&files);
    ::posix_spawnattr_destroy(&attributes);
    return failure == 0 ? process : -1;
}

void warn(std::int64_t step, const std::string& how) {
    log_warning(concat("checkpoint.after_save of step ", step, " ", how, "; the checkpoint itself is complete"));
}

}  // namespace

AfterSave::AfterSave(std::string command, double limit_seconds) : command_(std::move(command)), limit_seconds_(limit_seconds) {}

void AfterSave::take_over(const std::filesystem::path& checkpoints) noexcept {
    try {
        for (auto& [step, lock] : CommandLock::left_in(checkpoints)) {
            if (lock.is_held()) {
                log_info(concat("checkpoint.after_save of step ", step,
                                " is still running, started by an earlier process of this run"));
                running_[step] = {-1, std::move(lock), seconds_now() + limit_seconds_};
            } else {
                warn(step,
                     "was started by an earlier process of this run and has ended, but that process did not record "
                     "whether it succeeded");
                lock.remove_file();
            }
        }
    } catch (const std::exception& error) {
        log_warning(concat(checkpoints.string(), ": cannot look for earlier checkpoint.after_save commands: ", error.what()));
    }
}

void AfterSave::start(std::int64_t step, const std::filesystem::path& folder) noexcept {
    if (command_.empty()) return;
    try {
        if (running_.size() < most_at_once) return spawn(step, folder);
        if (waiting_)
            warn(waiting_->first, concat("is skipped: two earlier ones are still running, and step ", step, " is newer"));
        waiting_.emplace(step, folder);
    } catch (const std::exception& error) { warn(step, concat("could not be started (", error.what(), ")")); }
}

void AfterSave::spawn(std::int64_t step, const std::filesystem::path& folder) {
    const std::filesystem::path whole = std::filesystem::absolute(folder);
    CommandLock lock = CommandLock::make(step, folder);
    int failure = 0;
    const pid_t process = spawn_shell(command_, whole.string(), lock.descriptor(), failure);
    if (process < 0) {
        lock.remove_file();
        return warn(step, concat("could not be started (", std::strerror(failure), ")"));
    }
    lock.give_to(process);
    running_[step] = {process, std::move(lock), seconds_now() + limit_seconds_};
}

bool AfterSave::has_ended(std::int64_t step, Command& command) {
    if (command.process < 0) {  // started by an earlier process
        if (seconds_now() < command.next_look) return false;
        command.next_look = seconds_now() + seconds_between_looks;
        return !command.lock.is_held();
    }
    siginfo_t end{};
    const int failed = ::waitid(P_PID, static_cast<id_t>(command.process), &end, WEXITED | WNOHANG | WNOWAIT);
    if (failed == 0 && end.si_pid == 0) return false;
    if (command.stage != Stage::runs) ::kill(-command.process, SIGKILL);  // the rest of its group, before the id can be reused
    int status = 0;
    if (::waitpid(command.process, &status, WNOHANG) != command.process || command.stage != Stage::runs) return true;
    if (WIFSIGNALED(status)) warn(step, concat("was killed by signal ", WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0) warn(step, concat("ended with exit code ", WEXITSTATUS(status)));
    return true;
}

/// Handles a command past the deadline of its stage. @returns whether to forget it
bool AfterSave::give_up(std::int64_t step, Command& command) {
    const pid_t leader = command.process < 0 ? command.lock.holder() : command.process;
    if (command.stage == Stage::runs)
        warn(step, concat("has run for ", limit_seconds_, " s (checkpoint.after_save_seconds): ",
                          leader > 0 ? "terminating it" : "no longer waiting for it; it cannot be terminated from this host"));
    if (leader <= 0 || command.stage == Stage::killed) return true;
    ::kill(-leader, command.stage == Stage::runs ? SIGTERM : SIGKILL);
    command.stage = command.stage == Stage::runs ? Stage::asked_to_end : Stage::killed;
    command.deadline = seconds_now() + seconds_to_end;
    return false;
}

std::set<std::int64_t> AfterSave::look() noexcept {
    std::set<std::int64_t> in_use;
    try {
        for (auto entry = running_.begin(); entry != running_.end();) {
            auto& [step, command] = *entry;
            const bool ended = has_ended(step, command) || (seconds_now() > command.deadline && give_up(step, command));
            if (ended) {
                command.lock.remove_file();
                entry = running_.erase(entry);
            } else {
                in_use.insert((entry++)->first);
            }
        }
        if (waiting_ && running_.size() < most_at_once) {
            const auto [step, folder] = *std::exchange(waiting_, std::nullopt);
            start(step, folder);
            if (running_.contains(step)) in_use.insert(step);
        }
        if (waiting_) in_use.insert(waiting_->first);
    } catch (const std::exception& error) { log_warning(concat("checkpoint.after_save: ", error.what())); }
    return in_use;
}

void AfterSave::wait(const std::function<double()>& end, const std::function<bool(std::int64_t)>& concerns) {
    const double begin = seconds_now();
    bool said = false;
    for (;;) {
        std::set<std::int64_t> in_use = look();
        std::erase_if(in_use, [&](std::int64_t step) { return !concerns(step); });
        if (in_use.empty() || seconds_now() >= end()) return;
        if (!said && seconds_now() - begin > worth_a_line_seconds) {
            log_info(concat("waiting for checkpoint.after_save of step ", *in_use.begin(), " to end"));
            said = true;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
}

void AfterSave::finish(const std::function<double()>& end) noexcept {
    try {
        wait(end, [](std::int64_t) { return true; });
    } catch (const std::exception& error) { log_warning(concat("checkpoint.after_save: ", error.what())); }
    for (const auto& [step, command] : running_) warn(step, "is still running, and the run ends without waiting longer");
    if (const auto left = std::exchange(waiting_, std::nullopt)) warn(left->first, "is skipped: earlier ones are still running");
}

void AfterSave::finish_after(std::int64_t step) noexcept {
    try {
        wait([] { return std::numeric_limits<double>::infinity(); }, [step](std::int64_t other) { return other > step; });
    } catch (const std::exception& error) { log_warning(concat("checkpoint.after_save: ", error.what())); }
}

}  // namespace bertpretrain
