#include "train/stop/stop_request.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>

#include <poll.h>
#include <unistd.h>

#include "core/signals.h"

namespace bertpretrain {
namespace {

// The signal handlers may access only these, which are lock-free.
volatile std::sig_atomic_t awaited = 0, received = 0, save_wanted = 0;
std::atomic<std::int64_t> first_request{0}, repeat_interval{0};  // nanoseconds; 0: no request yet
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t nanoseconds_now() {
    std::timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

/// Writes to standard error unless that would block: a stalled terminal or pipe must not delay the exit.
void say(std::string_view words) {
    pollfd error_output{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&error_output, 1, 0) != 1 || (error_output.revents & POLLOUT) == 0) return;
    if (::write(STDERR_FILENO, words.data(), words.size()) < 0) return;  // standard error is closed
}

void remember(int number) {
    if (awaited == 0) {
        say("stopped by a signal during startup; there is nothing to save\n");
        ::_exit(128 + number);
    }
    const std::int64_t now = nanoseconds_now();
    std::int64_t first = 0;
    if (first_request.compare_exchange_strong(first, now)) {
        received = number;
    } else if (number != SIGXCPU && now - first >= repeat_interval) {  // the system repeats SIGXCPU every second
        say("stopped by a second signal; unsaved work is lost\n");
        ::_exit(128 + number);
    }
}

void remember_save(int) { save_wanted = 1; }

}  // namespace

StopRequest::StopRequest(double repeat_seconds) {
    awaited = 0;
    received = 0;
    save_wanted = 0;
    first_request = 0;
    repeat_interval = static_cast<std::int64_t>(repeat_seconds * 1e9);
    for (const int number : stop_signals) handle_signal(number, remember);
    handle_signal(SIGUSR1, remember_save);
}

StopRequest::~StopRequest() {
    for (const int number : stop_signals) handle_signal(number, SIG_DFL);
    handle_signal(SIGUSR1, SIG_DFL);
}

void StopRequest::await_requests() { awaited = 1; }

void StopRequest::begin_startup() { awaited = 0; }

void StopRequest::ask(StopReason reason) { asked_ = reason; }

StopReason StopRequest::reason() const {
    return std::max(asked_.load(), received == 0 ? StopReason() : StopReason::by_signal(static_cast<int>(received)));
}

bool StopRequest::take_save_request() {
    if (save_wanted == 0) return false;
    save_wanted = 0;
    return true;
}

}  // namespace bertpretrain
