#include "train/stop_request.h"

#include <csignal>
#include <string_view>

#include <unistd.h>

namespace bertpretrain {
namespace {

// A handler may touch nothing but these.
volatile std::sig_atomic_t awaited = 0, received = 0, save_wanted = 0;

void say(std::string_view words) {
    if (::write(STDERR_FILENO, words.data(), words.size()) < 0) return;  // nobody is left to tell
}

void remember(int number) {
    if (awaited == 0) say("stopped by a signal while the run started: nothing to save\n");
    else if (received != 0) say("stopped by a second signal: what was not saved is lost\n");
    if (awaited == 0 || received != 0) ::_exit(128 + number);
    received = number;
}

void remember_save(int) { save_wanted = 1; }

void handle(int number, void (*handler)(int)) {
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    ::sigaction(number, &action, nullptr);
}

}  // namespace

StopRequest::StopRequest() {
    awaited = 0;
    received = 0;
    save_wanted = 0;
    handle(SIGTERM, remember);
    handle(SIGINT, remember);
    handle(SIGUSR1, remember_save);
}

StopRequest::~StopRequest() {
    for (const int number : {SIGTERM, SIGINT, SIGUSR1}) handle(number, SIG_DFL);
}

void StopRequest::await_requests() { awaited = 1; }

int StopRequest::signal() const { return received; }

bool StopRequest::take_save_request() {
    if (save_wanted == 0) return false;
    save_wanted = 0;
    return true;
}

}  // namespace bertpretrain
