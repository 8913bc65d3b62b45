#include "train/after_save.h"

#include <cstring>
#include <vector>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"
#include "core/log.h"
#include "core/signals.h"

namespace bertpretrain {
namespace {

/// @returns the process, or -1 with `failure` set to the system's reason
pid_t spawn_shell(const std::string& command, const std::string& folder, int& failure) {
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
    // A signal to our terminal or group is not for it; and it needs the defaults of signals that are ignored here.
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);
    const sigset_t ignored = signals_ignored_here();
    ::posix_spawnattr_setsigdefault(&attributes, &ignored);
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    // Not the connections to other ranks: while it held them, those would not notice that this process is gone.
    ::posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
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

void AfterSave::start(std::int64_t step, const std::filesystem::path& folder) noexcept {
    if (command_.empty()) return;
    try {
        int failure = 0;
        const pid_t process = spawn_shell(command_, std::filesystem::absolute(folder).string(), failure);
        if (process < 0) warn(step, concat("could not be started (", std::strerror(failure), ")"));
        else running_[step] = process;
    } catch (const std::exception& error) { warn(step, concat("could not be started (", error.what(), ")")); }
}

std::set<std::int64_t> AfterSave::look() noexcept {
    std::set<std::int64_t> still;
    for (auto entry = running_.begin(); entry != running_.end();) {
        const auto [step, process] = *entry;
        int status = 0;
        const pid_t ended = ::waitpid(process, &status, WNOHANG);
        if (ended == 0) {
            still.insert(step);
            ++entry;
            continue;
        }
        entry = running_.erase(entry);
        if (ended != process) continue;  // somebody else has heard of its end
        if (WIFSIGNALED(status)) warn(step, concat("was ended by signal ", WTERMSIG(status)));
        else if (WEXITSTATUS(status) != 0) warn(step, concat("ended with exit code ", WEXITSTATUS(status)));
    }
    return still;
}

}  // namespace bertpretrain
