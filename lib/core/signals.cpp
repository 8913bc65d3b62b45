#include "core/signals.h"

#include <algorithm>
#include <atomic>

#include <unistd.h>

#include "core/environment.h"

namespace bertpretrain {
namespace {

constexpr std::array ignored_signals{SIGPIPE, SIGXFSZ};

std::atomic<const std::string*> current_note = nullptr;  // never freed: a signal may arrive while it is replaced
static_assert(decltype(current_note)::is_always_lock_free);

void end_with_note(int number) {
    if (const std::string* note = current_note) [[maybe_unused]]
        const ssize_t ignored = ::write(STDERR_FILENO, note->data(), note->size());
    std::signal(number, SIG_DFL);
    ::raise(number);
}

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

void note_when_interrupted(const std::string& note) {
    if (environment_variable("RANK").value_or("0") != "0") return;
    current_note = new std::string("\n" + note + "\n");
    for (const int number : {SIGINT, SIGTERM}) {
        struct sigaction before {};
        ::sigaction(number, nullptr, &before);
        if (before.sa_handler != SIG_IGN) handle_signal(number, end_with_note);  // a job in the background ignores SIGINT
    }
}

sigset_t signals_ignored_here() {
    sigset_t all;
    ::sigemptyset(&all);
    for (const int number : ignored_signals) ::sigaddset(&all, number);
    return all;
}

}  // namespace bertpretrain
