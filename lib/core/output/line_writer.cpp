#include "core/output/line_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>

#include <poll.h>
#include <unistd.h>

#include "core/concat.h"

namespace bertpretrain {
namespace {

constexpr double longest_wait_of_a_caller = 0.1;  ///< seconds

/// @returns the number of lines that could not be written
std::size_t write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = ::write(descriptor, text.data(), text.size());
        if (count >= 0) {
            text.remove_prefix(static_cast<std::size_t>(count));
        } else if (errno == EAGAIN) {  // another process has made the descriptor non-blocking
            pollfd room{descriptor, POLLOUT, 0};
            ::poll(&room, 1, -1);
        } else if (errno != EINTR) {
            return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
        }
    }
    return 0;
}

std::string note(std::size_t dropped) {
    return dropped == 0 ? "" : concat("(", dropped, " line(s) are missing here: they could not be written in time)\n");
}

}  // namespace

struct LineWriter::State {
    const int descriptor;
    const std::size_t room;
    std::mutex mutex;
    std::string waiting;                                ///< not empty: a write of it is posted
    std::size_t lost = 0, dropped = 0;                  ///< numbers of lines missing before `waiting`, and after it
    std::uint64_t taken = 0, written = 0, late_to = 0;  ///< bytes; late_to: put() does not wait until these are written

    bool is_late() const { return late_to > written; }

    void write() {
        std::unique_lock lock(mutex);
        const std::string batch = std::exchange(waiting, {});
        const std::size_t before = std::exchange(lost, 0), after = std::exchange(dropped, 0);
        lock.unlock();
        const std::size_t failed = write_all(descriptor, note(before) + batch + note(after));
        lock.lock();
        lost += failed;
        written += batch.size();
    }
};

LineWriter::LineWriter(int descriptor, std::size_t room) : state_(std::make_shared<State>(descriptor, room)) {
    try {
        thread_.emplace(0);
    } catch (const std::system_error&) { thread_.reset(); }  // the message about it must still be written
}

void LineWriter::put(std::string_view line) {
    State& state = *state_;
    std::unique_lock lock(state.mutex);
    const bool fits = state.waiting.size() + line.size() <= state.room && (state.dropped == 0 || state.waiting.empty());
    if (!thread_) {
        state.waiting += line;
        state.taken += line.size();
        lock.unlock();
        return state.write();
    }
    if (!fits || (state.waiting.empty() && !thread_->try_post([state = state_] { state->write(); }))) {
        ++state.dropped;
        return;
    }
    state.waiting += line;
    const std::uint64_t end = state.taken += line.size();
    if (state.is_late()) {
        state.late_to = end;
        return;
    }
    lock.unlock();
    if (thread_->drain_for(longest_wait_of_a_caller)) return;
    lock.lock();
    state.late_to = std::max(state.late_to, end);
}

void LineWriter::put_unless_late(std::string_view text) {
    {
        const std::lock_guard lock(state_->mutex);
        if (state_->is_late() || state_->waiting.size() + text.size() > state_->room) return;
    }
    put(text);
}

bool LineWriter::flush(double seconds) { return !thread_ || thread_->drain_for(seconds); }

}  // namespace bertpretrain
