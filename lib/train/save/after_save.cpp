#include "train/save/after_save.h"

#include <chrono>
#include <csignal>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>

#include <sys/wait.h>

#include "core/clock.h"
#include "core/error.h"
#include "core/output/log.h"
#include "core/shell_command.h"

namespace bertpretrain {
namespace {

constexpr std::size_t most_at_once = 2;
constexpr double seconds_to_end = 10;       ///< between SIGTERM and SIGKILL
constexpr double worth_a_line_seconds = 1;  ///< a shorter wait is not logged

void warn(std::int64_t step, const std::string& how) {
    log_warning(concat("checkpoint.after_save of step ", step, " ", how, "; the checkpoint itself is complete"));
}

}  // namespace

AfterSave::AfterSave(std::string command, double limit_seconds) : command_(std::move(command)), limit_seconds_(limit_seconds) {}

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
    pid_t process = -1;
    const int failure = spawn_shell({.command = command_,
                                     .name = "after_save",
                                     .argument = whole.string(),
                                     .more_variables = {"BERTPRETRAIN_CHECKPOINT=" + whole.string()}},
                                    process);
    if (failure != 0) return warn(step, concat("could not be started (", std::strerror(failure), ")"));
    running_[step] = {process, seconds_now() + limit_seconds_};
}

bool AfterSave::has_ended(std::int64_t step, Command& command) {
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
    if (command.stage == Stage::killed) return true;
    if (command.stage == Stage::runs)
        warn(step, concat("has run for ", limit_seconds_, " s (checkpoint.after_save_seconds): terminating it"));
    ::kill(-command.process, command.stage == Stage::runs ? SIGTERM : SIGKILL);
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
            if (!ended) in_use.insert(step);
            entry = ended ? running_.erase(entry) : std::next(entry);
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

void AfterSave::finish_after(std::int64_t step, const std::function<double()>& end) noexcept {
    try {
        wait(end, [step](std::int64_t other) { return other > step; });
    } catch (const std::exception& error) { log_warning(concat("checkpoint.after_save: ", error.what())); }
}

}  // namespace bertpretrain
