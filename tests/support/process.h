#pragma once
// A program that runs in parallel with the test, so that the test can send it signals.

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "support/files.h"
#include "support/folders.h"

namespace bertpretrain::testing {

inline void sleep_seconds(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Runs one command in the project's folder. The shell is replaced by the command, which therefore gets the signals. The
/// destructor kills the command.
class Process {
public:
    explicit Process(const std::string& command) {
        pid_ = ::fork();
        if (pid_ != 0) return;
        std::signal(SIGHUP, SIG_DFL);  // it is ignored if nohup started the tests
        ::execl("/bin/sh", "sh", "-c", ("cd '" + project_folder() + "' && exec " + command + " >/dev/null 2>&1").c_str(),
                static_cast<char*>(nullptr));
        ::_exit(127);
    }
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
    ~Process() {
        if (!ended()) send(SIGKILL);
        wait();
    }

    pid_t pid() const { return pid_; }

    bool ended() {
        int status = 0;
        if (exit_code_ < 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) remember(status);
        return exit_code_ >= 0;
    }

    void send(int signal) {
        if (!ended()) ::kill(pid_, signal);
    }

    /// Blocks until the command has ended. @returns the exit code; 128 + signal number when a signal ended it
    int wait() {
        int status = 0;
        if (exit_code_ < 0 && ::waitpid(pid_, &status, 0) == pid_) remember(status);
        return exit_code_;
    }

private:
    void remember(int status) { exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

    pid_t pid_ = -1;
    int exit_code_ = -1;
};

/// Waits until `holds()` is true, `process` has ended, or three minutes have passed. @returns whether `holds()` is true
template <class Condition>
bool wait_until(Process& process, const Condition& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(3);
    while (!holds() && !process.ended() && std::chrono::steady_clock::now() < end) sleep_seconds(0.001);
    return holds();
}

/// Returns the running children of `parent`, by ascending process id.
inline std::vector<pid_t> children_of(pid_t parent) {
    std::vector<pid_t> children;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string name = entry.path().filename().string();
        if (name.find_first_not_of("0123456789") != name.npos) continue;
        std::error_code gone;
        if (!std::filesystem::exists(entry.path() / "stat", gone)) continue;
        std::string stat;
        try {
            stat = read_text(entry.path() / "stat");
        } catch (const std::exception&) { continue; }  // the process has ended in the meantime
        const std::size_t after_name = stat.rfind(')');
        if (after_name == stat.npos) continue;
        std::istringstream fields(stat.substr(after_name + 1));
        char state = 0;
        pid_t of = 0;
        if (fields >> state >> of && of == parent && state != 'Z') children.push_back(std::stoi(name));
    }
    std::sort(children.begin(), children.end());
    return children;
}

}  // namespace bertpretrain::testing
