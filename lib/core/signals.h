#pragma once
// What signals mean to a program that runs for weeks.

#include <array>
#include <csignal>

namespace bertpretrain {

/// Each asks for a save and an end. SIGHUP: the terminal was closed. SIGUSR2 and SIGXCPU: a batch system (LSF, Grid Engine) is
/// about to kill the job. SIGALRM: a time limit that was set before this program was started.
inline constexpr std::array stop_signals{SIGTERM, SIGINT, SIGHUP, SIGUSR2, SIGXCPU, SIGALRM};

/// Whether an exit code is that of a program which one of them has ended.
bool is_stop_code(int exit_code);

/// Calls `handler` for this signal from now on, and lets the calling thread receive it. A SIGHUP that is ignored, as `nohup` has
/// it, stays ignored. Async-signal-safe.
void handle_signal(int number, void (*handler)(int));

/// For the start of a program. SIGPIPE and SIGXFSZ are ignored: a reader that has left and a file that may not grow are errors of
/// the write, with a message. SIGCHLD gets its default, without which a process cannot wait for its children.
void prepare_signals();

/// The signals that prepare_signals() ignores: a program of the user's that is started from here needs their defaults.
sigset_t signals_ignored_here();

}  // namespace bertpretrain
