#include "core/signals.h"

#include <algorithm>

namespace bertpretrain {
namespace {

constexpr std::array ignored_signals{SIGPIPE, SIGXFSZ};

}  // namespace

bool is_stop_code(int exit_code) {
    return std::find(stop_signals.begin(), stop_signals.end(), exit_code - 128) != stop_signals.end();
}

void handle_signal(int number, void (*handler)(int)) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    if (number == SIGHUP && before.sa_handler == SIG_IGN) return;
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ::sigaction(number, &action, nullptr);
    sigset_t one;
    ::sigemptyset(&one);
    ::sigaddset(&one, number);
    ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
}

void prepare_signals() {
    for (const int number : ignored_signals) std::signal(number, SIG_IGN);
    std::signal(SIGCHLD, SIG_DFL);
}

sigset_t signals_ignored_here() {
    sigset_t all;
    ::sigemptyset(&all);
    for (const int number : ignored_signals) ::sigaddset(&all, number);
    return all;
}

}  // namespace bertpretrain
