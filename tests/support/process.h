#pragma once
// A program that runs beside the test, so that the test can send it signals.

#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

namespace bertpretrain::testing {

inline void sleep_seconds(double seconds) { std::this_thread::sleep_for(std::chrono::duration<double>(seconds)); }

/// Runs one command from the project's folder, without a shell between it and the signals. Killed with the object.
class Process {
public:
    explicit Process(const std::string& command) {
        pid_ = ::fork();
        if (pid_ != 0) return;
        ::execl("/bin/sh", "sh", "-c", ("cd '" PROJECT_FOLDER "' && exec " + command + " >/dev/null 2>&1").c_str(),
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

    /// Waits for the end. @returns the exit code; 128 + signal number when a signal ended it
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

/// Waits until `holds()`, or `process` has ended, or a minute has passed. @returns whether it holds
template <class Condition>
bool wait_until(Process& process, const Condition& holds) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!holds() && !process.ended() && std::chrono::steady_clock::now() < end) sleep_seconds(0.001);
    return holds();
}

}  // namespace bertpretrain::testing
