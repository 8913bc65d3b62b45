#pragma once
// Signal handling of both programs.

#include <array>
#include <csignal>
#include <string>

namespace bertpretrain {

/// Signals that ask the program to save and stop. SIGHUP: the terminal was closed. SIGUSR2 and SIGXCPU: a batch system (LSF, Grid
/// Engine) is about to kill the job. SIGALRM: a time limit that was set before this program was started.
inline constexpr std::array stop_signals{SIGTERM, SIGINT, SIGHUP, SIGUSR2, SIGXCPU, SIGALRM};

/// Whether the exit code (128 + signal) is that of a program ended by one of them.
bool is_stop_code(int exit_code);

/// Installs `handler` for this signal, with SA_RESTART, and unblocks the signal in the calling thread. An ignored SIGHUP, as
/// under `nohup`, stays ignored. Async-signal-safe.
void handle_signal(int number, void (*handler)(int));

/// Call this at the start of a program. Ignores SIGPIPE and SIGXFSZ: a closed pipe or a file size limit then makes the write
/// fail, which gives an error message. Restores SIGCHLD's default action, without which a process cannot wait for its children.
void prepare_signals();

/// From now on, SIGINT and SIGTERM print `note` to standard error before they end the process as they do by default. For commands
/// that need no other clean-up; an ignored signal stays ignored; a later handle_signal() replaces this. Of several ranks only
/// rank 0 prints. Replaces an earlier note. Not thread-safe.
void note_when_interrupted(const std::string& note);

/// Returns the signals that prepare_signals() ignores. User programs that are started from here need their default actions.
sigset_t signals_ignored_here();

}  // namespace bertpretrain
